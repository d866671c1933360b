/* flip MODE HOST PORT WITNESS PORT [both]: connects to HOST for two seconds while a thread turns what is said to the
 * witness; with `both` for longer, until something was allowed and something refused, as on a machine with more to do than
 * processors. Prints "allowed N refused N". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_in allowed, forbidden;
static volatile struct sockaddr_in said;
static volatile int stop, number;
static long yes, no;
static const char *mode;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static struct sockaddr_in look_up(const char *host, const char *port) {
    struct addrinfo *list, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    int failure = getaddrinfo(host, port, &hints, &list);
    if (failure) {
        fprintf(stderr, "%s: %s\n", host, gai_strerror(failure));
        _exit(1);
    }
    return *(struct sockaddr_in *)list->ai_addr;
}

static int fresh(int kind) {
    int fd = socket(AF_INET, kind | SOCK_NONBLOCK, 0);
    if (fd < 0) fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    return fd;
}

/* Long enough that somebody whose processor is taken away is often met here, and shorter than any call. */
static void moment(void) {
    for (volatile int i = 0; i < 50; i++);
}

/* One turn: the forbidden for a moment, and the allowed again. */
static void *turn(void *unused) {
    (void)unused;
    while (!stop) {
        if (!strcmp(mode, "address")) {
            said.sin_addr = forbidden.sin_addr;
            said.sin_port = forbidden.sin_port;
            moment();
            said.sin_addr = allowed.sin_addr;
            said.sin_port = allowed.sin_port;
        } else if (!strcmp(mode, "port")) {
            said.sin_port = forbidden.sin_port;
            moment();
            said.sin_port = allowed.sin_port;
        } else if (!strcmp(mode, "family")) {
            said.sin_family = AF_UNSPEC;
            said.sin_addr = forbidden.sin_addr;
            said.sin_port = forbidden.sin_port;
            moment();
            said.sin_family = AF_INET;
            moment();
            said.sin_addr = allowed.sin_addr;
            said.sin_port = allowed.sin_port;
        } else {
            /* Another socket under the same number: one for datagrams, or one that fast-opens. */
            int other = fresh(!strcmp(mode, "kind") ? SOCK_DGRAM : SOCK_STREAM);
            dup3(other, number, 0);
            close(other);
        }
    }
    return NULL;
}

static void count(int result) {
    if (result == 0 || errno == EINPROGRESS || errno == EISCONN || errno == EALREADY) yes++;
    else no++;
}

static void once(void) {
    struct sockaddr_in *address = (struct sockaddr_in *)&said;
    int fd = fresh(SOCK_STREAM);
    if (number) dup3(fd, number, 0);
    int at = number ? number : fd;
    count(connect(at, (struct sockaddr *)address, sizeof *address));
    if (number) {
        /* The address doesn't change here, but what it is said to does. */
        send(at, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        count(connect(at, (struct sockaddr *)&forbidden, sizeof forbidden));
        send(at, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    usleep(50);
    close(fd);
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 7) return 2;
    mode = argv[1];
    allowed = look_up(argv[2], argv[3]);
    forbidden = look_up(argv[4], argv[5]);
    if (!strcmp(mode, "port")) forbidden.sin_addr = allowed.sin_addr;
    if (!strcmp(mode, "socket") || !strcmp(mode, "kind")) number = dup(0);
    memcpy((void *)&said, &allowed, sizeof allowed);
    pthread_t thread;
    pthread_create(&thread, NULL, turn, NULL);
    double end = now() + 2, last = argc == 7 ? end + 25 : end;
    while (now() < end || (now() < last && !(yes && no))) once();
    stop = 1;
    pthread_join(thread, NULL);
    printf("allowed %ld refused %ld\n", yes, no);
    return 0;
}

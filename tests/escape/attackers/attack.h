/* What attackers share: a time, a flipper, and the question whether the closed object changed.
 *
 * An attacker prints "reached" as soon as it had the secret or changed what is closed, otherwise
 * "held ALLOWED REFUSED": how often the open object was had, and how often a call was refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const char *closed;
static struct stat before;
static int was_there;
static volatile int stop;
static long allowed, refused;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void watch(const char *path) {
    closed = path;
    was_there = lstat(path, &before) == 0;
}

/* Whatever a call does to a file, its change time tells, unless it is gone or there at last. */
static int has_changed(void) {
    struct stat after;
    if ((lstat(closed, &after) == 0) != was_there) return 1;
    return was_there && (after.st_ino != before.st_ino || after.st_nlink != before.st_nlink ||
                         after.st_size != before.st_size || after.st_ctim.tv_sec != before.st_ctim.tv_sec ||
                         after.st_ctim.tv_nsec != before.st_ctim.tv_nsec);
}

static void reached(void) {
    puts("reached");
    fflush(stdout);
    _exit(0);
}

/* Reads and closes a descriptor: the secret, or something that is open. */
static void look(int fd) {
    char text[16] = "";
    if (fd < 0) {
        refused++;
        return;
    }
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n >= 6 && memcmp(text, "SECRET", 6) == 0) reached();
    allowed++;
}

static void count(long result) {
    if (result < 0) refused++;
    else allowed++;
}

static void fill(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return;
    if (write(fd, text, strlen(text)) < 0) refused++;
    close(fd);
}

/* Tries for some seconds, while `flip` runs in a thread of its own. */
static int attack(double seconds, void *(*flip)(void *), void (*attempt)(void)) {
    pthread_t thread;
    double end = now() + seconds;
    pthread_create(&thread, NULL, flip, NULL);
    while (now() < end) {
        attempt();
        if (has_changed()) reached();
    }
    stop = 1;
    pthread_join(thread, NULL);
    if (has_changed()) reached();
    printf("held %ld %ld\n", allowed, refused);
    return 0;
}

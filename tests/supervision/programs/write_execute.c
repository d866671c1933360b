/* Writes a program, closes it, executes it: argv[1] times, while argv[2] threads open files for reading.
 * Prints how often each thing happened, and what failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[65536];
static ssize_t length;
static atomic_int is_over;
static atomic_long read_wrongly;

static void *reader(void *unused)
{
    char byte;
    while (!is_over) {
        int fd = open("plain", O_RDONLY);
        if (fd < 0 || read(fd, &byte, 1) != 1 || byte != 'p')
            read_wrongly++;
        close(fd);
    }
    return unused;
}

static int opened(int round, const char *name)
{
    switch (round % 4) {
    case 0: return open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    case 1: return open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    case 2: return creat(name, 0755);
    default: return open(name, O_RDWR | O_CLOEXEC);
    }
}

int main(int count, char **words)
{
    int rounds = atoi(words[1]), readers = atoi(words[2]), done = 0, busy = 0, other = 0;
    pthread_t threads[64];
    int from = open("tiny", O_RDONLY);
    length = read(from, text, sizeof text);
    close(from);
    for (int i = 0; i < readers; i++)
        pthread_create(&threads[i], 0, reader, 0);
    for (int round = 0; round < rounds; round++) {
        char name[32], *argv[] = {name, 0}, *none[] = {0};
        /* The ways take turns at the same two files: some make them, some overwrite them. */
        snprintf(name, sizeof name, "./made%d", round / 4 % 2);
        if (round % 4 == 1)
            unlink(name);
        int fd = opened(round, name), status, error;
        if (fd < 0 || write(fd, text, length) != length) {
            printf("round %d, writing %s: %s\n", round, name, strerror(errno));
            if (errno == ETXTBSY) busy++; else other++;
            close(fd);
            continue;
        }
        close(fd);
        pid_t pid;
        error = posix_spawn(&pid, name, 0, 0, argv, none);
        if (error)
            printf("round %d, executing %s: %s\n", round, name, strerror(error));
        if (error == ETXTBSY) busy++;
        else if (error || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7) other++;
        else done++;
    }
    is_over = 1;
    for (int i = 0; i < readers; i++)
        pthread_join(threads[i], 0);
    printf("%d executed, %d busy, %d other, %ld read wrongly\n", done, busy, other, (long)read_wrongly);
}

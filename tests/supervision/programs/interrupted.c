/* Makes argv[1] directories, files and links while a timer goes off; argv[2] says whether calls are restarted.
 * Prints how many were made in one try, how many calls said EINTR, and what else went wrong. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static volatile long ticks;
static int interrupted, failed;

static void tick(int number) { ticks += number > 0; }

/* Tries again only where the kernel says that the call was interrupted, as a careful program does. */
#define MAKE(call) \
    do { \
        int result; \
        while ((result = (call)) < 0 && errno == EINTR) interrupted++; \
        if (result < 0) { failed++; printf("%s: %s\n", #call, strerror(errno)); } \
        last = result; \
    } while (0)

int main(int count, char **words)
{
    int rounds = atoi(words[1]), last;
    struct sigaction action = {.sa_handler = tick, .sa_flags = atoi(words[2]) ? SA_RESTART : 0};
    struct itimerval timer = {{0, 300}, {0, 300}};
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &timer, 0);
    for (int round = 0; round < rounds; round++) {
        char directory[32], file[32], link_[32], moved[32];
        snprintf(directory, 32, "d%d", round), snprintf(file, 32, "f%d", round);
        snprintf(link_, 32, "l%d", round), snprintf(moved, 32, "m%d", round);
        MAKE(mkdir(directory, 0755));
        MAKE(open(file, O_CREAT | O_EXCL | O_WRONLY, 0644));
        close(last);
        MAKE(symlink("x", link_));
        MAKE(rename(directory, moved));
        MAKE(unlink(link_));
        MAKE(rmdir(moved));
        MAKE(unlink(file));
    }
    timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
    setitimer(ITIMER_REAL, &timer, 0);
    printf("%d failed, %s%s\n", failed, ticks > 50 ? "often interrupted" : "hardly interrupted",
           atoi(words[2]) && interrupted ? ", EINTR although calls are restarted" : "");
    return count < 0;
}

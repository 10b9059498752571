// For each fsync, rename and unlink of a program, writes a line to the file named by SYNC_LOG: the synced path, the new
// name, or the removed name. Load it with LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void note(const char *what, const char *name) {
    const char *path = getenv("SYNC_LOG");
    if (!path) return;
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) return;
    dprintf(log, "%s %s\n", what, name);
    close(log);
}

int fsync(int descriptor) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int result = next(descriptor);
    char link[64], name[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, name, sizeof name - 1);
    if (result == 0 && count > 0) {
        name[count] = 0;
        note("fsync", name);
    }
    return result;
}

int rename(const char *from, const char *to) {
    int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    int result = next(from, to);
    if (result == 0) note("rename", to);
    return result;
}

int unlink(const char *path) {
    int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    int result = next(path);
    if (result == 0) note("unlink", path);
    return result;
}

// Replaces the C library's read: reads of the file FAILING_FILE fail with the errno FAILING_ERRNO from the byte
// FAILING_FROM on, like those of a worn disk or of a network file system whose server has failed. Loaded with
// LD_PRELOAD.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t read(int descriptor, void *buffer, size_t count) {
    static ssize_t (*next)(int, void *, size_t);
    if (!next) next = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    const char *path = getenv("FAILING_FILE"), *from = getenv("FAILING_FROM"), *code = getenv("FAILING_ERRNO");
    struct stat named, opened;
    if (!path || !from || !code || stat(path, &named) != 0 || fstat(descriptor, &opened) != 0
        || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev)
        return next(descriptor, buffer, count);
    off_t left = atoll(from) - lseek(descriptor, 0, SEEK_CUR);
    if (left <= 0) {
        errno = atoi(code);
        return -1;
    }
    return next(descriptor, buffer, count < (size_t)left ? count : (size_t)left);
}

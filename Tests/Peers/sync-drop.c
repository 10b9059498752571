// Leaves out one kind of fsync of `inlet serve`, as if its code had no such call. SYNC_DROP names the kind: changes,
// changes-folder, note, recordings-folder, running or ended. Load it with LD_PRELOAD.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Returns whether another descriptor of this process has the file open, as a muxer has a running recording.
static int is_open_elsewhere(int descriptor) {
    struct stat wanted, found;
    if (fstat(descriptor, &wanted)) return 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    int is_open = 0;
    for (struct dirent *entry; !is_open && (entry = readdir(folder));) {
        int other = atoi(entry->d_name);
        is_open = entry->d_name[0] != '.' && other != descriptor && !fstat(other, &found) &&
                  found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino;
    }
    closedir(folder);
    return is_open;
}

static const char *kind(int descriptor) {
    struct stat facts;
    char link[64], name[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, name, sizeof name - 1);
    if (count < 0 || fstat(descriptor, &facts)) return "";
    name[count] = 0;
    int is_recording = strstr(name, "/recordings/") != NULL;
    if (S_ISDIR(facts.st_mode)) return is_recording ? "recordings-folder" : "changes-folder";
    if (!is_recording) return strstr(name, ".changes.json") ? "changes" : "";
    if (strstr(name, ".json.")) return "note";
    return is_open_elsewhere(descriptor) ? "running" : "ended";
}

int fsync(int descriptor) {
    const char *dropped = getenv("SYNC_DROP");
    if (dropped && !strcmp(kind(descriptor), dropped)) return 0;
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return next(descriptor);
}

/* Mounts a file system. */
#include "tools.h"
#include <sys/mount.h>

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Mounting a file system", mount("none", "/mnt", "tmpfs", 0, NULL) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

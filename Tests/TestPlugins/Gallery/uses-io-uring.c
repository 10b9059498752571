/* Creates an io_uring, through which system calls would bypass the filter. */
#include "tools.h"
#include <sys/syscall.h>

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Making an io_uring", (int)syscall(SYS_io_uring_setup, 8, kept) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

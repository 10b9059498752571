/* Reads the memory of its parent. */
#include "tools.h"
#include <sys/uio.h>

static inlet_result attempt(inlet_error *error) {
    char byte;
    // The C library has one address in all processes only by accident: any address works.
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)&attempt, 1};
    int refused = process_vm_readv(getppid(), &here, 1, &there, 1, 0) < 0;
    return tell(error, "Reading the parent's memory", refused && errno != EFAULT);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

/* Calls bpf. */
#include "tools.h"
#include <sys/syscall.h>

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Calling bpf", (int)syscall(SYS_bpf, 0, NULL, 0) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

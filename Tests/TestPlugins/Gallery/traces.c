/* Attaches to its parent as a debugger. */
#include "tools.h"
#include <sys/ptrace.h>

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Tracing the parent", (int)ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

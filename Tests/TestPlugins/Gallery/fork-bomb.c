/* Starts processes. It stops at sixteen, if nothing stops it before. */
#include "tools.h"
#include <sys/prctl.h>

static inlet_result spawn(inlet_error *error) {
    for (int i = 0; i < 16; i++) {
        pid_t child = fork();
        if (child < 0) return tell(error, "Starting a process", 1);
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(30);
            hang();
        }
    }
    return tell(error, "Starting 16 processes", 0);
}

#define IN_NEXT return spawn(error);
#include "gallery.h"

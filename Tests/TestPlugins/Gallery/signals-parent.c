/* Sends its parent a signal: SIGURG, which does no harm. */
#include "tools.h"

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Sending the parent a signal", kill(getppid(), SIGURG) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

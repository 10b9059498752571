/* Sends a line for the log that is cut off. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_message forged = {.type = INLET_MESSAGE_LOG};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

/* Sends Inlet a request that only Inlet may send. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_message forged = {.type = INLET_MESSAGE_CLOSE};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

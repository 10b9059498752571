/* Sends Inlet a message of an unknown type. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_message forged = {.type = 4000000000};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

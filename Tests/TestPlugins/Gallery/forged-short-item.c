/* Sends Inlet half of a description of a picture. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_wire_item forged = {.type = INLET_MESSAGE_ITEM};
    return forge(&forged, sizeof forged / 2);
}

#define IN_NEXT return lie();
#include "gallery.h"

/* Requests a key frame, which only a sink may do. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_message forged = {.type = INLET_MESSAGE_KEY_FRAME};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

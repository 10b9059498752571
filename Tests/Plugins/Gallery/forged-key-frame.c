/* Asks for a key frame, as only a sink does. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_message forged = {.type = INLET_MESSAGE_KEY_FRAME};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

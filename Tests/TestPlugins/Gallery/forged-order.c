/* Answers the request for a picture with the description of a stream. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_wire_stream forged = {.type = INLET_MESSAGE_OPENED, .time_base = {1, 25}};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

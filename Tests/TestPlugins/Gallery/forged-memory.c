/* Requests a memory of 2^63 bytes per slot from Inlet. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_need_segment forged = {.type = INLET_MESSAGE_NEED_SEGMENT, .slot_length = UINT64_C(1) << 63};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

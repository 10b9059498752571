/* Requests a larger memory from Inlet again and again. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_need_segment forged = {.type = INLET_MESSAGE_NEED_SEGMENT, .slot_length = 1 << 20};
    for (int i = 0; i < 1000; i++, forged.slot_length += 4096)
        send(INLET_CHILD_SOCKET, &forged, sizeof forged, MSG_NOSIGNAL);
    hang();
    return INLET_AGAIN;
}

#define IN_NEXT return lie();
#include "gallery.h"

/* Reports a packet of 2^64 - 1 bytes. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.is_packet = 1, forged.length = UINT64_MAX;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"

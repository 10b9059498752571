/* Reports a picture of 4294967295 planes. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.plane_count = UINT32_MAX;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"

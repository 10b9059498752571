/* Reports a picture of 4294967295x4294967295. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.width = forged.height = UINT32_MAX;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"

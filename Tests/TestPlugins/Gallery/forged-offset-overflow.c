/* Reports a picture whose offset is the largest number. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.planes[0].offset = UINT64_MAX;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"

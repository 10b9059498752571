/* Reports a picture whose second plane is after its slot. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.planes[1].offset = UINT64_C(1) << 40;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"

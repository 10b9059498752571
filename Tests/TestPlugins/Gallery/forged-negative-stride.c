/* Reports a picture whose rows run down to before its slot. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.planes[0].stride = INT64_MIN;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"

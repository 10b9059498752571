/* Reports parameter sets of four gigabytes that do not follow. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.parameter_sets_length = UINT32_MAX;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"

/* Requests a slot by a struct that states no size. */
#define IN_NEXT \
    inlet_slot none = {.size = 0}; \
    return host->get_slot(host->context, "yuv420p", 64, 48, &none, error);
#include "gallery.h"

/* Requests a slot of 4294967295x4294967295. */
#define IN_NEXT \
    inlet_slot none = {.size = sizeof none}; \
    return host->get_slot(host->context, "gray", UINT32_MAX, UINT32_MAX, &none, error);
#include "gallery.h"

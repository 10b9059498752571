/* Requests a slot for an unknown format. */
#define IN_NEXT \
    inlet_slot none = {.size = sizeof none}; return host->get_slot(host->context, "zebra", 64, 48, &none, error);
#include "gallery.h"

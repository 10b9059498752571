/* Asks for a slot for a format that there is not. */
#define IN_NEXT \
    inlet_slot none = {.size = sizeof none}; return host->get_slot(host->context, "zebra", 64, 48, &none, error);
#include "gallery.h"

/* Requests a slot for a picture of 16384x16384 with 8 bytes per pixel, which is over a gigabyte. */
#define IN_NEXT \
    inlet_slot none = {.size = sizeof none}; \
    return host->get_slot(host->context, "yuv444p16le", 16384, 16384, &none, error);
#include "gallery.h"

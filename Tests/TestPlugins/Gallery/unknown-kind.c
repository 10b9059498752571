/* Yields an item that is neither a picture nor a packet. */
#define ALTER_ITEM item->is_packet = 7;
#include "gallery.h"

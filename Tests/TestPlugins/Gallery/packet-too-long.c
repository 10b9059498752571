/* Yields a packet of 2^60 bytes. */
#define ALTER_ITEM \
    item->is_packet = 1, item->packet.data = (const uint8_t *)"data", item->packet.length = UINT64_C(1) << 60;
#include "gallery.h"

/* Yields a packet although it announced pictures. */
#define ALTER_ITEM item->is_packet = 1, item->packet.data = (const uint8_t *)"data", item->packet.length = 4;
#include "gallery.h"

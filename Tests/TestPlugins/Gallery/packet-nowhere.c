/* Yields a packet without an address. */
#define ALTER_ITEM item->is_packet = 1, item->packet.length = 1000;
#include "gallery.h"

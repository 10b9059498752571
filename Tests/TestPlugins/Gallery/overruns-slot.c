/* Writes far beyond the end of its slot, over whatever is there. */
#define ALTER_ITEM memset(slot.planes[0].data, 0, 1 << 30);
#include "gallery.h"

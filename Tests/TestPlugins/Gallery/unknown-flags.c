/* Sets unknown flags. */
#define ALTER_ITEM item->flags = 0xffffffff;
#include "gallery.h"

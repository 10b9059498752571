/* Sets flags that there are not. */
#define ALTER_ITEM item->flags = 0xffffffff;
#include "gallery.h"

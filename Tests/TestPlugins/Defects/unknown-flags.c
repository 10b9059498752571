/* items: next set the unknown flags 0x40. */
#define ALTER_ITEM item->flags |= 0x40;
#include "good.h"

/* items: next wrote beyond item */
#define ALTER_ITEM memset((uint8_t *)item + item->size, 0, 8);
#include "good.h"

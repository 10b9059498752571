/* items: get_slot was called with slot->size 0. */
#define SLOT {0}
#include "good.h"

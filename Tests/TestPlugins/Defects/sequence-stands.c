/* items: next gave the sequence number 0 after 0. */
#define ALTER_ITEM item->sequence = 0;
#include "good.h"

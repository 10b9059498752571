/* items: The PTS of 60 items advance by */
#define ALTER_ITEM item->pts *= 90000;
#include "good.h"

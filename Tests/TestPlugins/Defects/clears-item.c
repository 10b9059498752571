/* items: next left item->size at 0, but it was */
#define IN_NEXT *item = (inlet_item){.capture_time = INLET_NO_TIME, .wall_clock = INLET_NO_TIME};
#include "good.h"

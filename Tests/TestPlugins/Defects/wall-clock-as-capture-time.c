/* items: Use that clock, or leave it at INLET_NO_TIME. */
#define ALTER_ITEM struct timespec day; clock_gettime(CLOCK_REALTIME, &day); \
    item->capture_time = day.tv_sec * INT64_C(1000000000);
#include "good.h"

/* threads: Instances share nothing: keep all state in the instance. */
#define HELPERS static uint64_t shared;
#define IN_OPEN shared = 0;
#define ALTER_ITEM item->sequence = shared++; wait_for(1000000);
#include "good.h"

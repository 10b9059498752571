/* pause: next gave the sequence number 0 after 2. */
#define IN_RESUME source->count = 0; source->start = inlet->now();
#include "good.h"

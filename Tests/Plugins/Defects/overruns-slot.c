/* items: next crashed (SIGSEGV): it touched memory behind plane 0 of the slot that get_slot gave. */
#define ROWS(plane) ((plane) ? (source->height + 1) / 2 : source->height + 1)
#include "good.h"

/* items: next crashed (SIGSEGV): it touched memory after plane 0 of the slot that get_slot returned. */
#define ROWS(plane) ((plane) ? (source->height + 1) / 2 : source->height + 1)
#include "good.h"

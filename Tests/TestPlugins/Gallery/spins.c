/* Computes for ever in `next`. */
#include "tools.h"

static volatile int running = 1;

#define IN_NEXT while (running) {}
#include "gallery.h"

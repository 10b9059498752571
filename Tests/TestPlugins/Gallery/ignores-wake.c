/* Sleeps in `next` without checking the wake descriptor. Inlet can stop it at once all the same. */
#define IN_NEXT usleep(700000);
#include "gallery.h"

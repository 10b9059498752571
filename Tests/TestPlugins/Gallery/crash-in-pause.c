/* Writes to address 0 in `pause`. */
#define IN_PAUSE crash();
#include "gallery.h"

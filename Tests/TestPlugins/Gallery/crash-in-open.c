/* Writes to address 0 in `open`. */
#define IN_OPEN crash();
#include "gallery.h"

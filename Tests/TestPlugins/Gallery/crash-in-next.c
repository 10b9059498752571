/* Writes to address 0 in `next`. */
#define IN_NEXT crash();
#include "gallery.h"

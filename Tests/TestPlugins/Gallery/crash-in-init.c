/* Writes to address 0 in `init`. */
#define IN_INIT crash();
#include "gallery.h"

/* Writes to address 0 in `destroy`. */
#define IN_DESTROY crash();
#include "gallery.h"

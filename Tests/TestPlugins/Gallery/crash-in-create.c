/* Writes to address 0 in `create`. */
#define IN_CREATE crash();
#include "gallery.h"

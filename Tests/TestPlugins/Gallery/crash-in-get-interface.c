/* Writes to address 0 in `get_interface`. */
#define IN_GET_INTERFACE crash();
#include "gallery.h"

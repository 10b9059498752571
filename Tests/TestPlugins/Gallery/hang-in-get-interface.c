/* Never returns from `get_interface`. */
#define IN_GET_INTERFACE hang();
#include "gallery.h"

/* Never returns from `open`. */
#define IN_OPEN hang();
#include "gallery.h"

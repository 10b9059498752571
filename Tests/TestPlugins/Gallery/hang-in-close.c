/* Never returns from `close`. */
#define IN_CLOSE hang();
#include "gallery.h"

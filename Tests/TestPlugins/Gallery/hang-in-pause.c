/* Never returns from `pause`. */
#define IN_PAUSE hang();
#include "gallery.h"

/* Never returns from `init`. */
#define IN_INIT hang();
#include "gallery.h"

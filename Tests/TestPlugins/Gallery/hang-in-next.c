/* Never returns from `next`. */
#define IN_NEXT hang();
#include "gallery.h"

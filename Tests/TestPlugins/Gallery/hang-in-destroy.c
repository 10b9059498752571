/* Never returns from `destroy`. */
#define IN_DESTROY hang();
#include "gallery.h"

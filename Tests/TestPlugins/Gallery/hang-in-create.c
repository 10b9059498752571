/* Never returns from `create`. */
#define IN_CREATE hang();
#include "gallery.h"

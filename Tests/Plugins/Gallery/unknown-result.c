/* Returns a result that there is not. */
#define IN_NEXT return 77;
#include "gallery.h"

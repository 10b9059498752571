/* Returns an unknown result. */
#define IN_NEXT return 77;
#include "gallery.h"

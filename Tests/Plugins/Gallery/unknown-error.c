/* Returns an error that there is not. */
#define IN_NEXT return -1000;
#include "gallery.h"

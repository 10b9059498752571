/* Returns an unknown error. */
#define IN_NEXT return -1000;
#include "gallery.h"

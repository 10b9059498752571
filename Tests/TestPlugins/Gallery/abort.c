/* Calls abort. */
#define IN_NEXT abort();
#include "gallery.h"

/* Says that it was cancelled, though nobody did. */
#define IN_NEXT return INLET_ERROR_CANCELLED;
#include "gallery.h"

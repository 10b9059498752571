/* Reports that it was cancelled, though it was not. */
#define IN_NEXT return INLET_ERROR_CANCELLED;
#include "gallery.h"

/* Asks to be tried again before now. */
#define IN_NEXT return error->retry_after = INT64_MIN, fail(error, INLET_ERROR_BUSY, "Come back before.");
#include "gallery.h"

/* Requests a retry in the past. */
#define IN_NEXT return error->retry_after = INT64_MIN, fail(error, INLET_ERROR_BUSY, "Come back before.");
#include "gallery.h"

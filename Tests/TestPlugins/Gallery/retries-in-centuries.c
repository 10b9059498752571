/* Requests a retry in 292 years. */
#define IN_NEXT return error->retry_after = INT64_MAX, fail(error, INLET_ERROR_BUSY, "Come back later.");
#include "gallery.h"

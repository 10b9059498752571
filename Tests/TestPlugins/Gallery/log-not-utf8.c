/* Writes lines to the log that are null, not UTF-8, or of no known level. */
#define IN_NEXT inlet->log(99, "\xff\x1b]0;x"), inlet->log(INLET_LOG_INFO, NULL), inlet->log(-1, "");
#include "gallery.h"

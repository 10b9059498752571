/* Ends interruptions that never began, and begins one without a reason. */
#define IN_NEXT host->end_interruption(host->context), host->begin_interruption(host->context, NULL);
#include "gallery.h"

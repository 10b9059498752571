/* Reports progress without end in one call of `next`. */
#define IN_NEXT for (;;) host->report_progress(host->context);
#include "gallery.h"

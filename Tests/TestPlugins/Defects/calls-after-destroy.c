/* threads (items cancellation deadline pause errors leaks output init options sizes): was called after destroy. */
#define HELPERS \
    static void *report(void *data) { \
        const inlet_source_host *host = data; \
        for (int i = 0; i < 15; i++) { wait_for(10000000); host->report_progress(host->context); } \
        return NULL; \
    }
#define IN_OPEN pthread_create(&source->thread, NULL, report, (void *)source->host); pthread_detach(source->thread);
#include "good.h"

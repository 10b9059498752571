/* load: The plug-in has the interface inlet.sink/1, but the manifest declares no sink */
#define HELPERS \
    static inlet_result refuse() { return INLET_ERROR_UNSUPPORTED; } \
    static void nothing(inlet_sink *sink) { (void)sink; } \
    static const inlet_sink_interface sink = { \
        .size = sizeof sink, .create = refuse, .start = refuse, .consume = refuse, .finish = refuse, \
        .destroy = nothing};
#define INTERFACE(id) \
    (!strcmp(id, INLET_SINK_ID) ? (const void *)&sink : strcmp(id, INLET_SOURCE_ID) ? NULL : (const void *)&good_source)
#include "good.h"

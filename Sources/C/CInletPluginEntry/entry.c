/* The entry of every plug-in in Swift, and the only symbol that its library exports. */
#include "inlet_plugin_kit.h"

#include <string.h>

static const inlet_source_interface source = {
    .size = sizeof source,
    .create = inlet_kit_create,
    .open = inlet_kit_open,
    .next = inlet_kit_next,
    .pause = inlet_kit_pause,
    .resume = inlet_kit_resume,
    .close = inlet_kit_close,
    .destroy = inlet_kit_destroy,
};

static const inlet_sink_interface sink = {
    .size = sizeof sink,
    .create = inlet_kit_sink_create,
    .start = inlet_kit_sink_start,
    .consume = inlet_kit_sink_consume,
    .finish = inlet_kit_sink_finish,
    .destroy = inlet_kit_sink_destroy,
};

static const void *get_interface(const char *id) {
    if (!id) return NULL;
    if (strcmp(id, INLET_SOURCE_ID) == 0 && inlet_kit_has_sources()) return &source;
    if (strcmp(id, INLET_SINK_ID) == 0 && inlet_kit_has_sinks()) return &sink;
    return NULL;
}

const inlet_plugin inlet_plugin_entry = {
    .size = sizeof inlet_plugin_entry,
    .magic = INLET_PLUGIN_MAGIC,
    .major = INLET_PLUGIN_MAJOR,
    .minor_needed = 0,
    .init = inlet_kit_init,
    .deinit = inlet_kit_deinit,
    .get_interface = get_interface,
};

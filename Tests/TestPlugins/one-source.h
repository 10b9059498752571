/*
 * The common part of plug-ins with one source and no other state. The including file writes create, open_ and next;
 * the instance is memory from calloc.
 */
#include <inlet_plugin.h>
#include <stdlib.h>

static const inlet_host *inlet;

static inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error);
static inlet_result open_(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error);
static inlet_result next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error);

static void close_(inlet_source *source) { (void)source; }
static void destroy(inlet_source *source) { free(source); }

static const inlet_source_interface interface = {
    .size = sizeof interface, .create = create, .open = open_, .next = next, .close = close_, .destroy = destroy};

static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)error;
    inlet = host;
    return INLET_OK;
}

static void deinit(void) {}

static const void *get_interface(const char *id) {
    const char *own = INLET_SOURCE_ID;
    while (*id && *id == *own) id++, own++;
    return *id || *own ? NULL : &interface;
}

const inlet_plugin inlet_plugin_entry = {
    sizeof(inlet_plugin), INLET_PLUGIN_MAGIC, INLET_PLUGIN_MAJOR, 0, 0, init, deinit, get_interface};

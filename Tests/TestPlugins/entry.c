/* An entry with one error, which is set by the macro of the same name. */
#include <inlet_plugin.h>
#include <string.h>

#ifndef MAGIC
#define MAGIC INLET_PLUGIN_MAGIC
#endif
#ifndef MAJOR
#define MAJOR INLET_PLUGIN_MAJOR
#endif
#ifndef MINOR
#define MINOR 0
#endif
#ifndef SIZE
#define SIZE sizeof(inlet_plugin)
#endif
#ifndef INIT
#define INIT init
#endif
#ifndef NEXT
#define NEXT next
#endif
#ifndef INTERFACE_SIZE
#define INTERFACE_SIZE sizeof(inlet_source_interface)
#endif
#ifndef INIT_RESULT
#define INIT_RESULT INLET_OK
#endif

static inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    (void)configuration, (void)host, (void)error;
    *source = (inlet_source *)1;
    return INLET_OK;
}
static inlet_result open_(inlet_source *s, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)s, (void)deadline, (void)stream, (void)error;
    return INLET_OK;
}
static inlet_result next(inlet_source *s, int64_t deadline, inlet_item *item, inlet_error *error) {
    (void)s, (void)deadline, (void)item, (void)error;
    return INLET_END;
}
static void end(inlet_source *s) { (void)s; }

static const inlet_source_interface source = {
    .size = INTERFACE_SIZE, .create = create, .open = open_, .next = NEXT, .close = end, .destroy = end};
static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)host, (void)next;
    if (INIT_RESULT) strcpy(error->message, "No camera library here. Install it.");
    return INIT_RESULT;
}
static void deinit(void) { (void)init; }
static const void *get_interface(const char *id) { return strcmp(id, INLET_SOURCE_ID) ? NULL : &source; }

const inlet_plugin inlet_plugin_entry = {
    .size = SIZE, .magic = MAGIC, .major = MAJOR, .minor_needed = MINOR, .init = INIT, .deinit = deinit,
    .get_interface = get_interface};

#include "exercise.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

const inlet_exercise *exercise;
const inlet_plugin *plugin;
inlet_source_interface source_table;
inlet_sink_interface sink_table;
_Thread_local int is_caller;
atomic_int logged, most_logged;

static atomic_int second_lines;
static atomic_llong second_begin;

static void log_line(inlet_log_level level, const char *text) {
    if (level < INLET_LOG_DEBUG || level > INLET_LOG_ERROR) FAIL("The plug-in logged with the unknown level %d.",
        level);
    if (!text) FAIL("The plug-in logged a null pointer. Pass text.");
    atomic_fetch_add(&logged, 1);
    int64_t time = now();
    if (time - atomic_load(&second_begin) >= SECOND) {
        atomic_store(&second_begin, time);
        atomic_store(&second_lines, 0);
    }
    int lines = atomic_fetch_add(&second_lines, 1) + 1;
    if (lines > atomic_load(&most_logged)) atomic_store(&most_logged, lines);
}

static int32_t may_call(void) { return is_caller; }

static const inlet_thread_check thread_check = {
    .size = sizeof thread_check, .is_control = may_call, .is_capture = may_call};

static const void *extension(const char *id) {
    return id && !strcmp(id, INLET_THREAD_CHECK_ID) ? &thread_check : NULL;
}

/* Longer than the plug-in's version of the struct, like that of a later version. */
static const struct {
    inlet_host value;
    uint8_t future[64];
} host = {
    .value = {
        .size = sizeof host, .major = INLET_PLUGIN_MAJOR, .minor = INLET_PLUGIN_MINOR, .name = "inlet",
        .version = "verify", .log = log_line, .now = now, .get_extension = extension}};

void read_table(const char *id, void *table, size_t size) {
    enter("get_interface", 5 * SECOND);
    const void *found = plugin->get_interface(id);
    leave();
    memset(table, 0, size);
    if (!found) FAIL("get_interface has nothing for %s, which the manifest promises.", id);
    uint32_t stated;
    memcpy(&stated, found, sizeof stated);
    if (stated < 8) FAIL("The struct of %s states a size of %u. Set its size with sizeof.", id, stated);
    memcpy(table, found, stated < size ? stated : size);
}

static int64_t processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static void call_init(void) {
    padded_error error;
    prepare(&error, sizeof error.value);
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    int64_t processor = processor_time();
    enter("init", 5 * SECOND);
    inlet_result result = plugin->init(&host.value, &error.value);
    int64_t duration = leave();
    processor = processor_time() - processor;
    getrusage(RUSAGE_THREAD, &after);
    /* A thread that only waited for its turn has neither worked nor slept. */
    if (processor <= 50 * MILLISECOND && after.ru_nvcsw == before.ru_nvcsw) duration = processor;
    check_result(result, 0, &error, "init");
    if (result != INLET_OK) FAIL("init failed with %d: %.200s", result, error.value.message);
    if (duration > 50 * MILLISECOND && !strcmp(exercise->name, "init"))
        end_with(LATE, "init took %lld ms; 50 ms are allowed. Move its work to create or open.",
            (long long)(duration / MILLISECOND));
}

static void open_library(void) {
    enter("Loading the library", 10 * SECOND);
    void *library = dlopen(exercise->library, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        FAIL("The library cannot be loaded: %.300s", reason ? reason : "no reason is given");
    }
    plugin = dlsym(library, "inlet_plugin_entry");
    leave();
    if (!plugin) FAIL("The library has no symbol inlet_plugin_entry. Export it as inlet_plugin.h declares it.");
}

static void read_tables(void) {
    if (exercise->is_sink) read_table(INLET_SINK_ID, &sink_table, sizeof sink_table);
    else read_table(INLET_SOURCE_ID, &source_table, sizeof source_table);
}

void load(void) {
    open_library();
    call_init();
    read_tables();
}

void exercise_symbols(void) {
    open_library();
    check_library(plugin, exercise->library);
}

void exercise_interfaces(void) {
    load();
    static const char *const unknown[] = {
        "", "inlet", "inlet.source", "inlet.source/", "inlet.source/2", "inlet.source/10", "inlet.sink", "inlet.sink/2",
        "inlet.nothing/1"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        enter("get_interface", 5 * SECOND);
        const void *found = plugin->get_interface(unknown[i]);
        leave();
        if (found)
            FAIL("get_interface returned a pointer for the unknown id '%s'. Compare the whole id, and "
                 "return null for all others.", unknown[i]);
    }
    const char *id = exercise->is_sink ? INLET_SINK_ID : INLET_SOURCE_ID;
    if (plugin->get_interface(id) != plugin->get_interface(id))
        FAIL("get_interface returned two addresses for %s. Return the address of one constant.", id);
    if (plugin->reserved) FAIL("inlet_plugin_entry.reserved is %u. Set it to 0.", plugin->reserved);
    if (exercise->is_sink) {
        if (sink_table.reserved) FAIL("The struct of %s has %u in its field reserved. Set it to 0.", id,
            sink_table.reserved);
        return;
    }
    if (source_table.reserved) FAIL("The struct of %s has %u in its field reserved. Set it to 0.", id,
        source_table.reserved);
    if (!source_table.pause != !source_table.resume)
        FAIL("The source has %s without %s. Set both, or neither.", source_table.pause ? "pause" : "resume",
            source_table.pause ? "resume" : "pause");
}

void exercise_init(void) {
    open_library();
    struct facts before = take_facts();
    call_init();
    struct facts after = take_facts();
    if (after.descriptors > before.descriptors)
        FAIL("init opened %d descriptor%s, but must open nothing. Do that in open.",
            after.descriptors - before.descriptors, after.descriptors - before.descriptors == 1 ? "" : "s");
    /* A host may call init again, as long as it calls deinit as often. */
    call_init();
    enter("deinit", 5 * SECOND);
    plugin->deinit();
    leave();
    read_tables();
    enter("deinit", 5 * SECOND);
    plugin->deinit();
    leave();
    call_init();
    read_tables();
    /* The plug-in must work after that. */
    if (!exercise->is_sink) {
        struct instance instance;
        if (create_source(&instance, new_host()) == INLET_OK) destroy_source(&instance);
    }
    enter("deinit", 5 * SECOND);
    plugin->deinit();
    leave();
}

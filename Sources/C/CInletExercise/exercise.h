/* exercise.h: shared by all exercises. A function that finds a fault sends the answer and ends the process. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include "inlet_exercise.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)

enum outcome { PASSED, FAILED, LATE, NOT_APPLICABLE, NOT_OPENED };

/* answer.c */
_Noreturn void end_with(enum outcome outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define FAIL(...) end_with(FAILED, __VA_ARGS__)
/* Ends the process because `function` failed. This is the plug-in's fault if the function worked in earlier rounds. */
_Noreturn void cannot_open(const char *function, inlet_result result, const char *message);
/* The description of the rounds that `measure` runs, and the number of completed rounds; null outside of `measure`. */
extern const char *rounds_of;
extern int rounds_done;

/* calls.c: records the running function of the plug-in, for reports of crashes and hangs. */
void watch_calls(void);
/* Records that the current thread calls a function, which counts as hung after `limit` nanoseconds. */
void enter(const char *function, int64_t limit);
/* Records that the function has returned. Returns its duration. */
int64_t leave(void);
/*
 * The part of the last call's duration that the plug-in did not cause: the thread waited for a processor, or the host's
 * functions ran.
 */
extern _Thread_local int64_t excuse;
/* Records that the host's functions have run for this long in the current call. */
void excuse_host(int64_t nanoseconds);
/* Starts a thread whose crashes are reported. */
pthread_t start_thread(void *(*body)(void *), void *data);
/* Names a range of memory that must not be touched: a report of a crash there contains `what`. */
void name_guard(int index, const void *start, size_t length, const char *what);
enum { GUARDS = 32 };

int64_t now(void);
void sleep_for(int64_t nanoseconds);

/* facts.c: the resources of the process. */
struct facts {
    int descriptors;
    int threads;
    int64_t heap;
    int64_t pages;
};
struct facts take_facts(void);
/* Checks the exported symbols of the loaded library, and how it was linked. */
void check_library(const void *entry, const char *path);

/* plugin.c: the library and its tables. */
extern const inlet_exercise *exercise;
extern const inlet_plugin *plugin;
extern inlet_source_interface source_table;
extern inlet_sink_interface sink_table;
/* Loads the library and its tables, and calls init. */
void load(void);
/* Whether the thread may call functions that are tagged [control] and [capture]. */
extern _Thread_local int is_caller;
/* The number of lines that the plug-in has logged, and the maximum in one second. */
extern atomic_int logged, most_logged;
/* Copies a struct of the plug-in that states its size. */
void read_table(const char *id, void *table, size_t size);

/* host.c: the functions that an instance of a source may call. */
struct host {
    inlet_source_host table;
    uint8_t future[64];
    int wake;
    atomic_int is_cancelled, is_destroyed, is_in_next;
    pthread_t caller;
    atomic_int drops;
    /* Whether get_slot has returned a slot in this call of next. */
    int is_granted;
    uint32_t slot;
    char format[24];
    uint32_t width, height;
    int plane_count;
    inlet_exercise_plane planes[4];
    struct {
        uint8_t *mapping;
        size_t length;
        uint8_t *rows;
    } memory[4];
};
struct host *new_host(void);
void cancel(struct host *host);
/* Revokes a cancellation, for another instance that uses the same host. */
void reset(struct host *host);
/* The value of a byte of a slot before the plug-in writes to it. */
uint8_t fill_byte(uint32_t slot, int plane, uint64_t offset);

/* structs.c: structs that are longer than the plug-in's version, followed by bytes that must not be touched. */
enum { FUTURE = 32, BEYOND = 32 };
#define PADDED(type) struct { type value; uint8_t future[FUTURE]; uint8_t beyond[BEYOND]; }
typedef PADDED(inlet_error) padded_error;
typedef PADDED(inlet_stream) padded_stream;
typedef PADDED(inlet_item) padded_item;
typedef PADDED(inlet_sink_wants) padded_wants;
void prepare(void *place, size_t size);
void check_struct(const void *place, size_t size, const char *function, const char *name);
/*
 * Checks the result of a function and the error that it filled in. `positive` is the greatest result that it may
 * return.
 */
void check_result(inlet_result result, int positive, const padded_error *error, const char *function);

/* source.c: one instance of a source. */
struct instance {
    struct host *host;
    inlet_source *source;
    padded_error error;
    padded_stream stream;
    padded_item item;
    /* The last call: its result, its start, its duration, and the part of that which the plug-in did not cause. */
    inlet_result result;
    int64_t begin, duration, excuse;
};
/* Each returns the result of the plug-in's function, after checking it. */
inlet_result create_source(struct instance *instance, struct host *host);
inlet_result open_source(struct instance *instance, int64_t deadline);
inlet_result next_item(struct instance *instance, int64_t deadline);
void release_item(const inlet_item *item);
void close_source(struct instance *instance);
void destroy_source(struct instance *instance);
/* Creates and opens a source, or ends the process if it cannot be opened. */
void begin_source(struct instance *instance, struct host *host);
/* Waits at most `limit` for an item. Returns 0 at the end of the stream or of the time. */
int wait_for_item(struct instance *instance, int64_t limit);
void end_source(struct instance *instance);
/* A checksum of the bytes of an item. */
uint64_t checksum(const inlet_item *item);

/*
 * life.c: runs as many rounds as fit into a time, and finds resources that grow with them. Returns the number of
 * rounds. A round that returns 0 is the last one.
 */
int measure(const char *what, int most, int64_t limit, int (*round)(void));

/* The exercises. Each returns if the plug-in passes. */
void exercise_symbols(void);
void exercise_interfaces(void);
void exercise_init(void);
void exercise_items(void);
void exercise_few_items(void);
void exercise_cancellation(void);
void exercise_deadline(void);
void exercise_pause(void);
void exercise_errors(void);
void exercise_leaks(void);
void exercise_lending(void);
void exercise_threads(void);
void exercise_output(void);
void exercise_sink(void);
void exercise_sink_leaks(void);
/* A remark for the answer of an exercise that passes. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern char remark_text[256];

#endif

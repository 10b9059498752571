#include "exercise.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* The host of a call. A call after destroy, or with another pointer, is a fault. */
static struct host *host_of(void *context, const char *function) {
    struct host *host = context;
    if (!host) FAIL("%s was called without the context of inlet_source_host. Pass host->context.", function);
    if (atomic_load(&host->is_destroyed))
        FAIL("%s was called after destroy. Stop and join the plug-in's threads in close.", function);
    return host;
}

static int32_t is_cancelled(void *context) { return atomic_load(&host_of(context, "is_cancelled")->is_cancelled); }

static void report_progress(void *context) { host_of(context, "report_progress"); }

static void count_drop(void *context, const char *reason, uint64_t count) {
    struct host *host = host_of(context, "count_drop");
    if (!reason || !*reason) FAIL("count_drop was called without a reason. Pass one word, such as \"damaged\".");
    atomic_fetch_add(&host->drops, count > 1000000 ? 1000000 : (int)count);
}

static void begin_interruption(void *context, const char *reason) {
    host_of(context, "begin_interruption");
    if (!reason || !*reason) FAIL("begin_interruption was called without a reason. Pass a few words.");
}

static void end_interruption(void *context) { host_of(context, "end_interruption"); }

static void get_demand(void *context, inlet_demand *demand) {
    host_of(context, "get_demand");
    if (!demand || demand->size < sizeof *demand)
        FAIL("get_demand was called with demand->size %u. Set it to sizeof(inlet_demand) first.",
            demand ? demand->size : 0);
    uint32_t size = demand->size;
    *demand = (inlet_demand){.size = size, .wants_pictures = 1, .wants_packets = 1};
}

static uint32_t mixed(uint32_t value) {
    value = (value ^ value >> 16) * UINT32_C(0x7feb352d);
    value = (value ^ value >> 15) * UINT32_C(0x846ca68b);
    return value ^ value >> 16;
}

uint8_t fill_byte(uint32_t slot, int plane, uint64_t offset) {
    return (uint8_t)mixed((uint32_t)offset * 4 + (uint32_t)plane + mixed(slot));
}

/* Gives each plane memory that ends at an inaccessible page, so that an overrun crashes where it happens. */
static int take_memory(struct host *host) {
    static const char *const names[] = {
        "after plane 0 of the slot that get_slot returned", "after plane 1 of the slot that get_slot returned",
        "after plane 2 of the slot that get_slot returned", "after plane 3 of the slot that get_slot returned"};
    for (int i = 0; i < host->plane_count; i++) {
        size_t wanted = host->planes[i].stride * host->planes[i].rows;
        size_t pages = (wanted + PAGE - 1) / PAGE * PAGE;
        if (host->memory[i].length != pages + 2 * PAGE) {
            if (host->memory[i].mapping) munmap(host->memory[i].mapping, host->memory[i].length);
            host->memory[i].length = pages + 2 * PAGE;
            host->memory[i].mapping = mmap(
                NULL, host->memory[i].length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (host->memory[i].mapping == MAP_FAILED
                || mprotect(host->memory[i].mapping + PAGE, pages, PROT_READ | PROT_WRITE)) {
                host->memory[i].mapping = NULL;
                host->memory[i].length = 0;
                return 0;
            }
            name_guard(i, host->memory[i].mapping + PAGE + pages, PAGE, names[i]);
        }
        host->memory[i].rows = host->memory[i].mapping + PAGE + pages - wanted;
        for (size_t k = 0; k < wanted; k++) host->memory[i].rows[k] = fill_byte(host->slot, i, k);
    }
    return 1;
}

static inlet_result refuse(inlet_error *error, inlet_result result, const char *text) {
    if (error) snprintf(error->message, sizeof error->message, "%s", text);
    return result;
}

static inlet_result get_slot(
    void *context, const char *format, uint32_t width, uint32_t height, inlet_slot *slot, inlet_error *error) {
    struct host *host = host_of(context, "get_slot");
    if (!pthread_equal(pthread_self(), host->caller))
        FAIL("get_slot was called on another thread than next. Call it within next, on its thread.");
    if (!atomic_load(&host->is_in_next)) FAIL("get_slot was called outside of next. Call it within next.");
    if (host->is_granted) FAIL("get_slot was called twice within one next. Use the slot that it returned first.");
    if (!slot || slot->size < sizeof *slot)
        FAIL("get_slot was called with slot->size %u. Set it to sizeof(inlet_slot) first.", slot ? slot->size : 0);
    if (!format || strnlen(format, sizeof host->format) >= sizeof host->format)
        return refuse(error, INLET_ERROR_UNSUPPORTED, "The pixel format does not exist.");
    host->plane_count = exercise->layout(format, width, height, host->planes);
    if (host->plane_count == -1) return refuse(error, INLET_ERROR_UNSUPPORTED, "The pixel format does not exist.");
    if (host->plane_count < 0)
        return refuse(error, INLET_ERROR_INVALID_CONFIGURATION, "A picture of this size is not possible.");
    host->slot = host->slot % 63 + 1;
    int64_t begin = now();
    int has_memory = take_memory(host);
    excuse_host(now() - begin);
    if (!has_memory) return refuse(error, INLET_ERROR_RESOURCE_EXHAUSTED, "Not enough memory for a slot.");
    snprintf(host->format, sizeof host->format, "%s", format);
    host->width = width;
    host->height = height;
    host->is_granted = 1;
    uint32_t size = slot->size;
    *slot = (inlet_slot){.size = size, .id = host->slot, .plane_count = (uint32_t)host->plane_count};
    for (int i = 0; i < host->plane_count; i++)
        slot->planes[i] = (inlet_plane){
            host->memory[i].rows, host->planes[i].stride * host->planes[i].rows, 0, (int64_t)host->planes[i].stride};
    return INLET_OK;
}

struct host *new_host(void) {
    /* Never freed, so that a call after destroy is detected. */
    struct host *host = calloc(1, sizeof *host);
    if (!host) end_with(NOT_APPLICABLE, "Not enough memory for the exercise.");
    host->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    host->table = (inlet_source_host){
        .size = offsetof(struct host, wake), .wake_fd = host->wake, .context = host, .is_cancelled = is_cancelled,
        .report_progress = report_progress, .count_drop = count_drop, .begin_interruption = begin_interruption,
        .end_interruption = end_interruption, .get_demand = get_demand, .get_slot = get_slot};
    return host;
}

void cancel(struct host *host) {
    uint64_t one = 1;
    atomic_store(&host->is_cancelled, 1);
    if (write(host->wake, &one, sizeof one) < 0) end_with(NOT_APPLICABLE, "The exercise cannot cancel.");
}

void reset(struct host *host) {
    uint64_t count;
    atomic_store(&host->is_cancelled, 0);
    atomic_store(&host->is_destroyed, 0);
    while (read(host->wake, &count, sizeof count) > 0) continue;
}

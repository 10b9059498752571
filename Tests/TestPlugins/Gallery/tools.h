/*
 * tools.h: the headers, the instance and the ways to fail that the bad plug-ins of this folder share.
 */
#ifndef TOOLS_H
#define TOOLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <inlet_plugin_protocol.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct inlet_source {
    const inlet_source_host *host;
    int64_t start;
    uint64_t count;
};

static const inlet_host *inlet;

/* Pointers that the compiler cannot analyse. */
static int *volatile nowhere __attribute__((unused));
static void *volatile kept __attribute__((unused));

/* Writes to address 0. */
static inline void crash(void) { *nowhere = 1; }

/* Never returns. */
static inline void hang(void) {
    for (;;) pause();
}

static inline inlet_result fail(inlet_error *error, inlet_result result, const char *message) {
    snprintf(error->message, sizeof error->message, "%s", message);
    return result;
}

/* Reports an attempt that the sandbox must refuse. `refused` is not 0 if the system refused it, by errno. */
static inline inlet_result tell(inlet_error *error, const char *attempt, int refused) {
    error->native_code = refused ? errno : 0;
    if (!refused) {
        snprintf(error->message, sizeof error->message, "%s: this was allowed.", attempt);
        return INLET_ERROR_INPUT_OUTPUT;
    }
    snprintf(error->message, sizeof error->message, "%s: refused, %s.", attempt, strerror(errno));
    switch (error->native_code) {
    case EPERM: case EACCES: case ENOSYS: return INLET_ERROR_PERMISSION_DENIED;
    case ENOMEM: case EAGAIN: case EMFILE: case ENFILE: return INLET_ERROR_RESOURCE_EXHAUSTED;
    default: return INLET_ERROR_INPUT_OUTPUT;
    }
}

/* Makes the picture a lent one in gray. */
static inline void lend(inlet_item *item, void *data, uint64_t length, uint64_t offset, int64_t stride) {
    item->picture.is_in_slot = 0;
    item->picture.plane_count = 1;
    strcpy(item->picture.pixel_format, "gray");
    item->picture.planes[0] = (inlet_plane){data, length, offset, stride};
}

/* Describes the picture to Inlet as inlet-plugin-host would. */
static inline inlet_wire_item honest(const inlet_item *item, const inlet_slot *slot) {
    inlet_wire_item forged = {
        .type = INLET_MESSAGE_ITEM, .segment = 1, .slot = slot->id, .width = item->picture.width,
        .height = item->picture.height, .sequence = item->sequence, .pts = item->pts, .dts = INLET_NO_TIME,
        .capture_time = INLET_NO_TIME, .wall_clock = INLET_NO_TIME, .plane_count = slot->plane_count};
    memcpy(forged.pixel_format, item->picture.pixel_format, sizeof forged.pixel_format);
    for (uint32_t i = 0; i < slot->plane_count && i < 4; i++)
        forged.planes[i] = (inlet_wire_plane){
            (uint64_t)(slot->planes[i].data + slot->planes[i].offset - slot->planes[0].data), slot->planes[i].stride};
    return forged;
}

/* Sends Inlet a message that bypasses inlet-plugin-host, and suppresses the true answer. */
static inline inlet_result forge(const void *message, size_t length) {
    send(INLET_CHILD_SOCKET, message, length, MSG_NOSIGNAL);
    hang();
    return INLET_AGAIN;
}

#endif

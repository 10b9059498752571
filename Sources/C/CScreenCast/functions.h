#pragma once

// The functions of libsystemd and libpipewire that are called. They are found by `inlet_cast_load`.

#include "CScreenCast.h"
#include "pipewire.h"
#include <systemd/sd-bus.h>

#define INLET_SD_BUS(X)                                                                                            \
    X(open_user) X(new) X(set_address) X(set_bus_client) X(start) X(close_unref) X(get_fd) X(get_events)           \
    X(get_timeout) X(process) X(send) X(call_async) X(match_signal_async) X(message_new_method_call)               \
    X(message_append) X(message_open_container) X(message_close_container) X(message_read) X(message_skip)         \
    X(message_enter_container) X(message_exit_container) X(message_peek_type) X(message_get_error)                 \
    X(message_get_path) X(message_unref)

#define INLET_PIPEWIRE(X)                                                                                          \
    X(init) X(thread_loop_new) X(thread_loop_destroy) X(thread_loop_start) X(thread_loop_stop)                     \
    X(thread_loop_lock) X(thread_loop_unlock) X(thread_loop_get_loop) X(context_new) X(context_destroy)            \
    X(context_connect_fd) X(core_disconnect) X(properties_new) X(stream_new) X(stream_add_listener)                \
    X(stream_connect) X(stream_update_params) X(stream_set_active) X(stream_dequeue_buffer) X(stream_queue_buffer) \
    X(stream_destroy)

#define INLET_SD_BUS_DECLARE(name) __typeof__(sd_bus_##name) *name;
#define INLET_PIPEWIRE_DECLARE(name) __typeof__(pw_##name) *name;
struct inlet_sd_bus_functions {
    INLET_SD_BUS(INLET_SD_BUS_DECLARE)
};
struct inlet_pipewire_functions {
    INLET_PIPEWIRE(INLET_PIPEWIRE_DECLARE)
};
#undef INLET_SD_BUS_DECLARE
#undef INLET_PIPEWIRE_DECLARE
extern struct inlet_sd_bus_functions inlet_sd_bus;
extern struct inlet_pipewire_functions inlet_pipewire;

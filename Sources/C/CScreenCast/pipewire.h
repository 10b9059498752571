#pragma once

// The part of libpipewire's interface that is used here. Its own headers are found only by flags of pkg-config that
// also link the library, which is loaded here. PortalHeaderTests compares the two.

#include <spa/buffer/buffer.h>
#include <spa/param/param.h>
#include <spa/utils/dict.h>
#include <spa/utils/hook.h>

struct pw_context;
struct pw_core;
struct pw_core_info;
struct pw_loop;
struct pw_properties;
struct pw_stream;
struct pw_stream_control;
struct pw_thread_loop;

void pw_init(int *count, char **arguments[]);

struct pw_thread_loop *pw_thread_loop_new(const char *name, const struct spa_dict *properties);
void pw_thread_loop_destroy(struct pw_thread_loop *loop);
int pw_thread_loop_start(struct pw_thread_loop *loop);
void pw_thread_loop_stop(struct pw_thread_loop *loop);
void pw_thread_loop_lock(struct pw_thread_loop *loop);
void pw_thread_loop_unlock(struct pw_thread_loop *loop);
struct pw_loop *pw_thread_loop_get_loop(struct pw_thread_loop *loop);

struct pw_context *pw_context_new(struct pw_loop *loop, struct pw_properties *properties, size_t user_data_size);
void pw_context_destroy(struct pw_context *context);
struct pw_core *pw_context_connect_fd(
    struct pw_context *context, int fd, struct pw_properties *properties, size_t user_data_size);

#define PW_ID_CORE 0
struct pw_core_events {
    uint32_t version;  // 0
    void (*info)(void *data, const struct pw_core_info *info);
    void (*done)(void *data, uint32_t id, int sequence);
    void (*ping)(void *data, uint32_t id, int sequence);
    void (*error)(void *data, uint32_t id, int sequence, int result, const char *message);
    void (*remove_id)(void *data, uint32_t id);
    void (*bound_id)(void *data, uint32_t id, uint32_t global_id);
    void (*add_mem)(void *data, uint32_t id, uint32_t type, int fd, uint32_t flags);
    void (*remove_mem)(void *data, uint32_t id);
};
// The first of them.
struct pw_core_methods {
    uint32_t version;  // 0
    int (*add_listener)(
        void *object, struct spa_hook *listener, const struct pw_core_events *events, void *data);
    int (*hello)(void *object, uint32_t version);
    int (*sync)(void *object, uint32_t id, int sequence);
};
int pw_core_disconnect(struct pw_core *core);

#define PW_KEY_MEDIA_TYPE "media.type"
#define PW_KEY_MEDIA_CATEGORY "media.category"
#define PW_KEY_MEDIA_ROLE "media.role"
struct pw_properties *pw_properties_new(const char *key, ...);

enum pw_direction { PW_DIRECTION_INPUT = SPA_DIRECTION_INPUT };
enum pw_stream_state {
    PW_STREAM_STATE_ERROR = -1,
    PW_STREAM_STATE_UNCONNECTED = 0,
    PW_STREAM_STATE_CONNECTING = 1,
    PW_STREAM_STATE_PAUSED = 2,
    PW_STREAM_STATE_STREAMING = 3,
};
enum pw_stream_flags { PW_STREAM_FLAG_AUTOCONNECT = 1 << 0, PW_STREAM_FLAG_DONT_RECONNECT = 1 << 7 };
// The first of its fields.
struct pw_buffer {
    struct spa_buffer *buffer;
    void *user_data;
};
struct pw_stream_events {
    uint32_t version;  // 0
    void (*destroy)(void *data);
    void (*state_changed)(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error);
    void (*control_info)(void *data, uint32_t id, const struct pw_stream_control *control);
    void (*io_changed)(void *data, uint32_t id, void *area, uint32_t size);
    void (*param_changed)(void *data, uint32_t id, const struct spa_pod *param);
    void (*add_buffer)(void *data, struct pw_buffer *buffer);
    void (*remove_buffer)(void *data, struct pw_buffer *buffer);
    void (*process)(void *data);
    void (*drained)(void *data);
};
struct pw_stream *pw_stream_new(struct pw_core *core, const char *name, struct pw_properties *properties);
void pw_stream_destroy(struct pw_stream *stream);
void pw_stream_add_listener(
    struct pw_stream *stream, struct spa_hook *listener, const struct pw_stream_events *events, void *data);
int pw_stream_connect(
    struct pw_stream *stream, enum pw_direction direction, uint32_t target, enum pw_stream_flags flags,
    const struct spa_pod **params, uint32_t count);
int pw_stream_update_params(struct pw_stream *stream, const struct spa_pod **params, uint32_t count);
int pw_stream_set_active(struct pw_stream *stream, bool active);
struct pw_buffer *pw_stream_dequeue_buffer(struct pw_stream *stream);
int pw_stream_queue_buffer(struct pw_stream *stream, struct pw_buffer *buffer);

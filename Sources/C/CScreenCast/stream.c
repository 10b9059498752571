// Frames of a PipeWire stream. A thread of PipeWire serves the connection, also while no frames are taken: a message
// that it does not answer blocks the other receivers of the same screen.

#define _GNU_SOURCE

#include "functions.h"
#include <errno.h>
#include <spa/buffer/meta.h>
#include <spa/param/video/format-utils.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// libswscale reads up to 64 bytes past a plane.
static const size_t read_ahead = 64;

// Owned by the stream's buffer until that is removed, and by the holder of a frame.
struct inlet_cast_memory {
    atomic_int owners;
    atomic_bool is_free;  // the holder has given it back
    struct pw_buffer *buffer;
    void *mapping;
    size_t mapped, skipped, size;  // the picture's memory begins after what is skipped
};

// Guarded by the loop's lock.
struct inlet_cast {
    struct pw_thread_loop *loop;
    // Readable when an event has occurred.
    int bell;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_stream *stream;
    struct spa_hook core_hook, stream_hook;
    struct inlet_cast_memory **memories;
    int memory_count;
    int wanted_buffers;
    // The newest picture that was not taken; its memory is NULL without a picture.
    struct inlet_cast_frame newest;
    bool was_connected;
    struct inlet_cast_state state;
    char error_text[256];
};

static void ring(struct inlet_cast *cast) { eventfd_write(cast->bell, 1); }

static void give_up(struct inlet_cast *cast, const char *text) {
    ring(cast);
    if (cast->state.is_over) return;
    cast->state.is_over = true;
    snprintf(cast->error_text, sizeof cast->error_text, "%s", text ? text : "");
}

static void release(struct inlet_cast_memory *memory) {
    if (atomic_fetch_sub(&memory->owners, 1) != 1) return;
    if (memory->mapping) munmap(memory->mapping, memory->mapped);
    free(memory);
}

void inlet_cast_give_back(struct inlet_cast_memory *memory) {
    atomic_store(&memory->is_free, true);
    release(memory);
}

// Maps the memory of a buffer, with additional readable bytes after it.
static void map(struct inlet_cast_memory *memory, const struct spa_data *data) {
    struct stat file;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = data->maxsize;
    const size_t skipped = data->mapoffset % page, offset = data->mapoffset - skipped;
    if (data->type != SPA_DATA_MemFd || size == 0 || fstat((int)data->fd, &file) != 0) return;
    // Memory past a file's end would end this process.
    if (file.st_size < 0 || (uint64_t)file.st_size < (uint64_t)data->mapoffset + size) return;
    const size_t whole = (skipped + size + page - 1) / page * page;
    const size_t mapped = whole + (read_ahead + page - 1) / page * page;
    void *place = mmap(NULL, mapped, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return;
    if (mmap(place, whole, PROT_READ, MAP_SHARED | MAP_FIXED, (int)data->fd, (off_t)offset) == MAP_FAILED) {
        munmap(place, mapped);
        return;
    }
    memory->mapping = place;
    memory->mapped = mapped;
    memory->skipped = skipped;
    memory->size = size;
}

static void on_add_buffer(void *data, struct pw_buffer *buffer) {
    struct inlet_cast *cast = data;
    buffer->user_data = NULL;
    struct inlet_cast_memory **grown
        = realloc(cast->memories, (size_t)(cast->memory_count + 1) * sizeof *cast->memories);
    if (!grown) return;
    cast->memories = grown;
    struct inlet_cast_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return;
    atomic_init(&memory->owners, 1);
    atomic_init(&memory->is_free, false);
    memory->buffer = buffer;
    if (buffer->buffer->n_datas > 0) map(memory, &buffer->buffer->datas[0]);
    if (!memory->mapping) {
        free(memory);
        give_up(cast, "the compositor's memory cannot be read");
        return;
    }
    buffer->user_data = memory;
    cast->memories[cast->memory_count++] = memory;
}

static void on_remove_buffer(void *data, struct pw_buffer *buffer) {
    struct inlet_cast *cast = data;
    struct inlet_cast_memory *memory = buffer->user_data;
    buffer->user_data = NULL;
    if (memory && cast->newest.memory == memory) cast->newest.memory = NULL;
    for (int index = 0; memory && index < cast->memory_count; index++) {
        if (cast->memories[index] != memory) continue;
        cast->memories[index] = cast->memories[--cast->memory_count];
        memory->buffer = NULL;
        release(memory);
        return;
    }
}

static enum inlet_cast_layout layout_of(uint32_t format) {
    switch (format) {
        case SPA_VIDEO_FORMAT_BGRx:
        case SPA_VIDEO_FORMAT_BGRA: return inlet_cast_bgr0;
        case SPA_VIDEO_FORMAT_RGBx:
        case SPA_VIDEO_FORMAT_RGBA: return inlet_cast_rgb0;
        default: return inlet_cast_unknown;
    }
}

static const struct spa_pod *meta(struct spa_pod_builder *builder, uint32_t type, int size) {
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type),
        SPA_PARAM_META_size, SPA_POD_Int(size));
}

static void on_param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    struct inlet_cast *cast = data;
    struct spa_video_info_raw info = {0};
    uint32_t type = 0, subtype = 0;
    if (id != SPA_PARAM_Format || !param) return;
    if (spa_format_parse(param, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video ||
        subtype != SPA_MEDIA_SUBTYPE_raw || spa_format_video_raw_parse(param, &info) < 0)
        return;
    cast->state.layout = layout_of(info.format);
    cast->state.width = info.size.width;
    cast->state.height = info.size.height;
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[] = {
        spa_pod_builder_add_object(
            &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
            SPA_POD_CHOICE_RANGE_Int(SPA_MIN(cast->wanted_buffers, 64), 2, 64), SPA_PARAM_BUFFERS_dataType,
            SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd)),
        meta(&builder, SPA_META_Header, sizeof(struct spa_meta_header)),
        meta(&builder, SPA_META_VideoCrop, sizeof(struct spa_meta_region)),
        meta(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform)),
    };
    inlet_pipewire.stream_update_params(cast->stream, params, sizeof params / sizeof *params);
    ring(cast);
}

static void on_state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)old;
    struct inlet_cast *cast = data;
    if (state == PW_STREAM_STATE_PAUSED || state == PW_STREAM_STATE_STREAMING) cast->was_connected = true;
    if (state == PW_STREAM_STATE_ERROR || (state == PW_STREAM_STATE_UNCONNECTED && cast->was_connected))
        give_up(cast, error);
}

static void give_back_free(struct inlet_cast *cast) {
    for (int index = 0; index < cast->memory_count; index++) {
        struct inlet_cast_memory *memory = cast->memories[index];
        if (atomic_exchange(&memory->is_free, false))
            inlet_pipewire.stream_queue_buffer(cast->stream, memory->buffer);
    }
}

static bool describe(struct inlet_cast *cast, struct pw_buffer *buffer, struct inlet_cast_frame *frame) {
    struct inlet_cast_memory *memory = buffer->user_data;
    if (!memory || cast->state.layout == inlet_cast_unknown) return false;
    const struct spa_chunk *chunk = buffer->buffer->datas[0].chunk;
    const struct spa_meta_header *header
        = spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(struct spa_meta_header));
    // A buffer of size 0 only states the pointer's position.
    if (chunk->size == 0 || (chunk->flags & SPA_CHUNK_FLAG_CORRUPTED)) return false;
    if (header && (header->flags & SPA_META_HEADER_FLAG_CORRUPTED)) return false;
    *frame = (struct inlet_cast_frame){
        .memory = memory,
        .start = (const uint8_t *)memory->mapping + memory->skipped,
        .size = memory->size,
        .offset = chunk->offset,
        .stride = chunk->stride,
        .layout = cast->state.layout,
        .width = cast->state.width,
        .height = cast->state.height,
        .crop_width = cast->state.width,
        .crop_height = cast->state.height,
        .time = header ? header->pts : 0,
    };
    const struct spa_meta_region *crop
        = spa_buffer_find_meta_data(buffer->buffer, SPA_META_VideoCrop, sizeof(struct spa_meta_region));
    if (crop && spa_meta_region_is_valid(crop)) {
        frame->crop_x = (uint32_t)crop->region.position.x;
        frame->crop_y = (uint32_t)crop->region.position.y;
        frame->crop_width = crop->region.size.width;
        frame->crop_height = crop->region.size.height;
    }
    const struct spa_meta_videotransform *transform = spa_buffer_find_meta_data(
        buffer->buffer, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform));
    if (transform && transform->transform <= SPA_META_TRANSFORMATION_270) frame->quarters = transform->transform;
    return true;
}

// Returns free memory to the compositor, and keeps only the newest picture. The compositor then has memory to draw
// into, however rarely pictures are taken, unless the pictures in use occupy all of it: without memory it omits
// changes, and the last change is missing until the next.
static void on_process(void *data) {
    struct inlet_cast *cast = data;
    give_back_free(cast);
    struct pw_buffer *buffer;
    // There are as many as were added, each of which comes once unless it is queued again.
    for (int count = 0; count < 64 && (buffer = inlet_pipewire.stream_dequeue_buffer(cast->stream)); count++) {
        struct inlet_cast_frame newer;
        if (!describe(cast, buffer, &newer)) {
            inlet_pipewire.stream_queue_buffer(cast->stream, buffer);
            continue;
        }
        if (cast->newest.memory) inlet_pipewire.stream_queue_buffer(cast->stream, cast->newest.memory->buffer);
        cast->newest = newer;
    }
    ring(cast);
}

static const struct pw_stream_events stream_events = {
    .state_changed = on_state_changed,
    .param_changed = on_param_changed,
    .add_buffer = on_add_buffer,
    .remove_buffer = on_remove_buffer,
    .process = on_process,
};

static void on_core_done(void *data, uint32_t id, int sequence) {
    (void)sequence;
    struct inlet_cast *cast = data;
    if (id == PW_ID_CORE) cast->state.answers++;
    ring(cast);
}

static void on_core_error(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)sequence;
    // Other objects' errors come by the stream's state.
    if (id == PW_ID_CORE || result == -EPIPE) give_up(data, message);
}

static const struct pw_core_events core_events = {
    .done = on_core_done,
    .error = on_core_error,
};

static int connect_stream(struct inlet_cast *cast, uint32_t node, uint32_t frames, uint32_t seconds) {
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_fraction most = SPA_FRACTION(frames, seconds), none = SPA_FRACTION(0, 1), one = SPA_FRACTION(1, 1);
    const struct spa_fraction unbounded = SPA_FRACTION(1000, 1);
    const struct spa_rectangle small = SPA_RECTANGLE(1, 1), large = SPA_RECTANGLE(16384, 16384);
    const struct spa_rectangle usual = SPA_RECTANGLE(1920, 1080);
    const struct spa_pod *format = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
        SPA_POD_CHOICE_ENUM_Id(
            5, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_RGBx, SPA_VIDEO_FORMAT_BGRA,
            SPA_VIDEO_FORMAT_RGBA),
        SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&usual, &small, &large), SPA_FORMAT_VIDEO_framerate,
        SPA_POD_CHOICE_RANGE_Fraction(&none, &none, &unbounded), SPA_FORMAT_VIDEO_maxFramerate,
        SPA_POD_CHOICE_RANGE_Fraction(&most, &one, &most));
    return inlet_pipewire.stream_connect(
        cast->stream, PW_DIRECTION_INPUT, node, PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_DONT_RECONNECT, &format, 1);
}

static int failure(void) { return errno > 0 ? -errno : -EIO; }

// Connects, with the lock held. Returns 0 or a negative errno. The descriptor is closed, also if it fails.
static int start(struct inlet_cast *cast, int remote, uint32_t node, uint32_t frames, uint32_t seconds) {
    cast->context = inlet_pipewire.context_new(inlet_pipewire.thread_loop_get_loop(cast->loop), NULL, 0);
    if (!cast->context) {
        close(remote);
        return -ENOMEM;
    }
    if (!(cast->core = inlet_pipewire.context_connect_fd(cast->context, remote, NULL, 0))) return failure();
    int result = -EINVAL;
    spa_interface_call_res(
        (struct spa_interface *)cast->core, struct pw_core_methods, result, add_listener, 0, &cast->core_hook,
        &core_events, cast);
    if (result < 0) return result;
    struct pw_properties *properties = inlet_pipewire.properties_new(
        PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Screen", NULL);
    if (!(cast->stream = inlet_pipewire.stream_new(cast->core, "inlet", properties))) return failure();
    inlet_pipewire.stream_add_listener(cast->stream, &cast->stream_hook, &stream_events, cast);
    return connect_stream(cast, node, frames, seconds);
}

struct inlet_cast *inlet_cast_new(int remote, uint32_t node, uint32_t frames, uint32_t seconds, int buffers) {
    struct inlet_cast *cast = calloc(1, sizeof *cast);
    int result = -ENOMEM;
    if (cast) {
        cast->wanted_buffers = buffers;
        cast->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (cast->bell < 0) result = failure();
        cast->loop = cast->bell < 0 ? NULL : inlet_pipewire.thread_loop_new("inlet-screen", NULL);
        if (cast->loop) result = inlet_pipewire.thread_loop_start(cast->loop);
    }
    if (result < 0) {
        close(remote);
    } else {
        inlet_pipewire.thread_loop_lock(cast->loop);
        result = start(cast, remote, node, frames, seconds);
        inlet_pipewire.thread_loop_unlock(cast->loop);
    }
    if (result >= 0) return cast;
    if (cast) inlet_cast_free(cast);
    errno = -result;
    return NULL;
}

void inlet_cast_free(struct inlet_cast *cast) {
    if (cast->loop) inlet_pipewire.thread_loop_stop(cast->loop);
    // Removes the buffers.
    if (cast->stream) inlet_pipewire.stream_destroy(cast->stream);
    if (cast->core) inlet_pipewire.core_disconnect(cast->core);
    if (cast->context) inlet_pipewire.context_destroy(cast->context);
    if (cast->loop) inlet_pipewire.thread_loop_destroy(cast->loop);
    if (cast->bell >= 0) close(cast->bell);
    for (int index = 0; index < cast->memory_count; index++) release(cast->memories[index]);
    free(cast->memories);
    free(cast);
}

int inlet_cast_descriptor(struct inlet_cast *cast) { return cast->bell; }

void inlet_cast_run(struct inlet_cast *cast) {
    eventfd_t count;
    eventfd_read(cast->bell, &count);
    inlet_pipewire.thread_loop_lock(cast->loop);
    give_back_free(cast);
    inlet_pipewire.thread_loop_unlock(cast->loop);
}

void inlet_cast_set_active(struct inlet_cast *cast, bool is_active) {
    inlet_pipewire.thread_loop_lock(cast->loop);
    inlet_pipewire.stream_set_active(cast->stream, is_active);
    inlet_pipewire.thread_loop_unlock(cast->loop);
}

void inlet_cast_ping(struct inlet_cast *cast) {
    int result = 0;
    inlet_pipewire.thread_loop_lock(cast->loop);
    spa_interface_call_res(
        (struct spa_interface *)cast->core, struct pw_core_methods, result, sync, 0, PW_ID_CORE, 0);
    inlet_pipewire.thread_loop_unlock(cast->loop);
    (void)result;
}

struct inlet_cast_state inlet_cast_look(struct inlet_cast *cast) {
    inlet_pipewire.thread_loop_lock(cast->loop);
    struct inlet_cast_state state = cast->state;
    state.error_text = cast->error_text;
    state.is_starved = cast->memory_count > 0;
    for (int index = 0; index < cast->memory_count; index++)
        if (atomic_load(&cast->memories[index]->owners) == 1) state.is_starved = false;
    inlet_pipewire.thread_loop_unlock(cast->loop);
    return state;
}

bool inlet_cast_take(struct inlet_cast *cast, struct inlet_cast_frame *frame) {
    inlet_pipewire.thread_loop_lock(cast->loop);
    *frame = cast->newest;
    cast->newest.memory = NULL;
    if (frame->memory) atomic_fetch_add(&frame->memory->owners, 1);
    inlet_pipewire.thread_loop_unlock(cast->loop);
    return frame->memory != NULL;
}

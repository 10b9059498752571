#pragma once

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/avutil.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Macros that Swift cannot import.
static const int inlet_averror_eof = AVERROR_EOF;
static const int inlet_averror_eagain = AVERROR(EAGAIN);
static const int inlet_averror_exit = AVERROR_EXIT;
static const int inlet_averror_invaliddata = AVERROR_INVALIDDATA;
static const int inlet_averror_bsf_not_found = AVERROR_BSF_NOT_FOUND;
static const int inlet_averror_bug = AVERROR_BUG;
static const int inlet_averror_bug2 = AVERROR_BUG2;
static const int inlet_averror_buffer_too_small = AVERROR_BUFFER_TOO_SMALL;
static const int inlet_averror_decoder_not_found = AVERROR_DECODER_NOT_FOUND;
static const int inlet_averror_demuxer_not_found = AVERROR_DEMUXER_NOT_FOUND;
static const int inlet_averror_encoder_not_found = AVERROR_ENCODER_NOT_FOUND;
static const int inlet_averror_experimental = AVERROR_EXPERIMENTAL;
static const int inlet_averror_external = AVERROR_EXTERNAL;
static const int inlet_averror_http_bad_request = AVERROR_HTTP_BAD_REQUEST;
static const int inlet_averror_http_unauthorized = AVERROR_HTTP_UNAUTHORIZED;
static const int inlet_averror_http_forbidden = AVERROR_HTTP_FORBIDDEN;
static const int inlet_averror_http_not_found = AVERROR_HTTP_NOT_FOUND;
static const int inlet_averror_http_other_4xx = AVERROR_HTTP_OTHER_4XX;
static const int inlet_averror_http_server_error = AVERROR_HTTP_SERVER_ERROR;
static const int inlet_averror_muxer_not_found = AVERROR_MUXER_NOT_FOUND;
static const int inlet_averror_option_not_found = AVERROR_OPTION_NOT_FOUND;
static const int inlet_averror_patchwelcome = AVERROR_PATCHWELCOME;
static const int inlet_averror_protocol_not_found = AVERROR_PROTOCOL_NOT_FOUND;
static const int inlet_averror_stream_not_found = AVERROR_STREAM_NOT_FOUND;
static const int inlet_averror_unknown = AVERROR_UNKNOWN;
static const int64_t inlet_av_nopts_value = AV_NOPTS_VALUE;
static const int inlet_av_error_max_string_size = AV_ERROR_MAX_STRING_SIZE;

// Fields that moved between libavutil versions.
static inline int inlet_frame_is_key(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return frame->key_frame;
#endif
}

// 0 for a progressive picture, 1 if the field of the top row comes first, 2 if it comes second.
static inline int inlet_frame_fields(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    if (!(frame->flags & AV_FRAME_FLAG_INTERLACED)) return 0;
    return frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST ? 1 : 2;
#else
    return !frame->interlaced_frame ? 0 : frame->top_field_first ? 1 : 2;
#endif
}

static inline void inlet_frame_set_fields(AVFrame *frame, int fields) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    frame->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
    if (fields != 0) frame->flags |= AV_FRAME_FLAG_INTERLACED;
    if (fields == 1) frame->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
    frame->interlaced_frame = fields != 0;
    frame->top_field_first = fields == 1;
#endif
}

static inline int64_t inlet_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

// Creates the output of a muxer. The type of libavformat's callback changed in its version 61.
static inline AVIOContext *inlet_avio_output(
    unsigned char *buffer, int size, void *opaque, int (*write)(void *, const uint8_t *, int),
    int64_t (*seek)(void *, int64_t, int)) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    return avio_alloc_context(buffer, size, 1, opaque, NULL, write, seek);
#else
    return avio_alloc_context(buffer, size, 1, opaque, NULL, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

// The facts that one of Inlet's own inputs provides to demuxers, with the same options as libavformat's own HTTP
// protocol. It is the `opaque` of the input's AVIOContext. The texts belong to its owner, which allocates them with
// av_strdup.
struct inlet_io_facts {
    const AVClass *class;
    void *owner;
    char *mime_type, *location;
};

static inline const AVClass *inlet_io_facts_class(void) {
    static const AVOption options[] = {
        { "mime_type", "", offsetof(struct inlet_io_facts, mime_type), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, 0 },
        { "location", "", offsetof(struct inlet_io_facts, location), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, 0 },
        { NULL },
    };
    static const AVClass class = {
        .class_name = "http", .item_name = av_default_item_name, .option = options, .version = LIBAVUTIL_VERSION_INT,
    };
    return &class;
}

static inline void *inlet_io_child(void *object, void *before) {
    return before ? NULL : ((AVIOContext *)object)->opaque;
}

static inline const AVClass *inlet_io_class(void) {
    static const AVClass class = {
        .class_name = "InletIO", .item_name = av_default_item_name, .version = LIBAVUTIL_VERSION_INT,
        .child_next = inlet_io_child,
    };
    return &class;
}

// Whether `opaque` is a struct inlet_io_facts. The name is compared, because each object file has a separate copy of
// the class.
static inline int inlet_io_is_ours(const AVIOContext *io) {
    return io->av_class && io->opaque && !strcmp(io->av_class->class_name, "InletIO");
}

// Variadic callbacks, which Swift cannot implement. `handler` is called for each line whose level is at most `level`,
// on the thread that logs it; the strings are valid during the call. Install it only once: the settings are read
// without a lock.
typedef void (*inlet_log_handler)(int level, const char *origin, const char *line);
struct inlet_log_settings {
    inlet_log_handler handler;
    int level;
};

static inline struct inlet_log_settings *inlet_log_settings(void) {
    // A static variable of a function, because Swift's importer emits no storage for global variables of a header.
    static struct inlet_log_settings settings;
    return &settings;
}

// Facts that libav* reports only in its log, recorded per thread. Read and set them on the thread that calls libav*, in
// the module that installed the log: each module has its own variables.
struct inlet_log_facts {
    unsigned missed_packets;
    int unresolved, tls_failed, oversized, opens_itself;
    int status; // of the last refusal by RTSP or HTTP
    int holds_redirects; // set when an input is opened: see inlet_log_hold_redirect
};

static inline struct inlet_log_facts *inlet_log_facts(void) {
    static _Thread_local struct inlet_log_facts facts;
    return &facts;
}

static inline void inlet_log_note(const char *origin, int level, const char *format, const char *line) {
    struct inlet_log_facts *facts = inlet_log_facts();
    if (!strncmp(format, "RTP: missed %d packets", 22)) facts->missed_packets++;
    if (!strncmp(format, "Failed to resolve hostname", 26)) facts->unresolved = 1;
    if (!strncmp(format, "Picture size %ux%u exceeds", 26)) facts->oversized = 1;
    if (!strncmp(format, "method %s failed: %d", 20)) sscanf(line, "method %*s failed: %d", &facts->status);
    if (!strncmp(format, "HTTP error %d", 13)) sscanf(line, "HTTP error %d", &facts->status);
    if (!strncmp(format, "Protocol '%s' not on whitelist", 30)) facts->opens_itself = 1;
    // Only some errors count: a connection that is reset also logs one.
    if (origin && !strcmp(origin, "tls") && level <= AV_LOG_ERROR
        && (strstr(line, "ertificate") || strstr(line, "unexpected TLS packet") || strstr(line, "alert")))
        facts->tls_failed = 1;
}

// The target of the last redirect by an RTSP server on this thread, at most 4096 bytes.
enum { inlet_log_redirect_size = 4096 };
static inline char *inlet_log_redirect(void) {
    static _Thread_local char target[inlet_log_redirect_size];
    return target;
}

// libavformat's RTSP follows redirects by itself, and sends the credentials to the new server. It logs each redirect
// before it connects, and reads the protocol list of the input after that. This function sets that list to a value that
// makes the opening fail, so that the caller decides where to connect.
static inline void inlet_log_hold_redirect(void *object, const char *format, va_list arguments) {
    if (!inlet_log_facts()->holds_redirects || !object || strncmp(format, "Status %d: Redirecting to %s", 28)) return;
    char line[inlet_log_redirect_size + 64];
    va_list copy;
    va_copy(copy, arguments);
    int length = vsnprintf(line, sizeof line, format, copy);
    va_end(copy);
    const char *target = strstr(line, "Redirecting to ");
    av_opt_set(object, "protocol_whitelist", "none", 0);
    if (length < 0 || !target) return;
    snprintf(inlet_log_redirect(), inlet_log_redirect_size, "%s", target + strlen("Redirecting to "));
    inlet_log_redirect()[strcspn(inlet_log_redirect(), "\r\n")] = 0;
}

static inline void inlet_log_callback(void *object, int level, const char *format, va_list arguments) {
    const struct inlet_log_settings *settings = inlet_log_settings();
    inlet_log_hold_redirect(object, format, arguments);
    if ((level & 0xff) > settings->level || !settings->handler) return;
    const AVClass *class = object ? *(const AVClass **)object : NULL;
    char line[1024];
    vsnprintf(line, sizeof line, format, arguments);
    inlet_log_note(class ? class->item_name(object) : NULL, level & 0xff, format, line);
    settings->handler(level & 0xff, class ? class->item_name(object) : NULL, line);
}

static inline void inlet_log_install(inlet_log_handler handler, int level) {
    inlet_log_settings()->handler = handler;
    inlet_log_settings()->level = level;
    av_log_set_callback(inlet_log_callback);
}

/*
 * inlet_plugin.h: the interface of plug-ins, which give video to Inlet or receive video from it.
 *
 * A plug-in is a shared library with one exported symbol, `inlet_plugin_entry`, and a manifest, NAME.inlet.json, in the
 * same folder. Inlet reads the manifest without running any code of the plug-in. It then loads the library in a
 * separate child process, inlet-plugin-host, which can use only the network, devices and files that the manifest
 * requests. A user who trusts the plug-in can have it loaded into Inlet's own process instead. The same library works
 * either way.
 *
 * This header requires only a C11 or C++17 compiler. It may be copied into other projects under Inlet's licence.
 * Samples/CSource is a complete plug-in; Docs/guide/writing-a-plugin.md is a tutorial.
 *
 * VERSIONS
 *   INLET_PLUGIN_MAJOR is incremented by a change that an older plug-in could misread. Inlet supports a major version
 *   for two years after its successor is released. INLET_PLUGIN_MINOR is incremented when something is added. A plug-in
 *   states the lowest minor version that it needs: 0, unless it uses something marked "since 1.N".
 *   Every struct begins with its `size` in bytes, as known to the side that fills it in, and grows only at its end. A
 *   reader treats fields beyond that size as zero. `reserved` is zero.
 *
 * THREADS
 *   [control]  Called on one thread, never at the same time as another function of the same instance that is tagged
 *              [control] or [capture].
 *   [capture]  Like [control], but from open to close always on the same thread. The plug-in may block this thread for
 *              as long as the function's comment allows.
 *   [any]      May be called on any thread at any time.
 *   Functions of different instances may be called at the same time, on different threads.
 *
 * OWNERSHIP
 *   The side that allocates memory frees it. Memory that a pointer argument refers to may be read only during the call,
 *   unless the comment states otherwise. Text is UTF-8 and ends in a zero byte; a null pointer means no text.
 *
 * ERRORS
 *   A function that can fail returns an inlet_result. If the result is negative, the function has filled in the given
 *   inlet_error: a sentence that states what failed and what to try, without passwords.
 *
 * TIMES
 *   Times are in nanoseconds. Deadlines and `capture_time` are of CLOCK_MONOTONIC; `wall_clock` counts from 1970-01-01
 *   00:00 UTC. INLET_NO_TIME means that the time is unknown. PTS and DTS are in ticks of the stream's time base.
 */
#ifndef INLET_PLUGIN_H
#define INLET_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes I N L T in the memory of a little-endian machine. */
#define INLET_PLUGIN_MAGIC UINT32_C(0x544c4e49)
#define INLET_PLUGIN_MAJOR 1
#define INLET_PLUGIN_MINOR 0

/* Ids for inlet_plugin.get_interface. The number after the slash is the revision of the interface. */
#define INLET_SOURCE_ID "inlet.source/1"
#define INLET_SINK_ID "inlet.sink/1"
/* Id for inlet_host.get_extension, which returns an inlet_thread_check. */
#define INLET_THREAD_CHECK_ID "inlet.thread-check/1"

#define INLET_NO_TIME INT64_MIN

#if defined(__GNUC__)
#define INLET_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define INLET_PLUGIN_EXPORT
#endif

/*
 * Results. Negative values are errors. They determine whether Inlet tries again: never after -1, -4, -15, -16 and -17;
 * after -2, -3, -6 and -13 only if the source has delivered something before; otherwise with growing delays.
 */
typedef int32_t inlet_result;
enum {
    INLET_OK = 0,
    /* The stream has ended. */
    INLET_END = 1,
    /* The deadline passed without a picture or packet. This is not an error. */
    INLET_AGAIN = 2,
    /* The option, size, rate or combination of them can never work. */
    INLET_ERROR_INVALID_CONFIGURATION = -1,
    /* The file, device or host does not exist. */
    INLET_ERROR_NOT_FOUND = -2,
    /* The operating system refuses access. */
    INLET_ERROR_PERMISSION_DENIED = -3,
    /* The device or server refuses the credentials. */
    INLET_ERROR_AUTHENTICATION_FAILED = -4,
    /* Another program is using the device. */
    INLET_ERROR_BUSY = -5,
    /* The device or host exists, but cannot do what is requested. */
    INLET_ERROR_UNSUPPORTED = -6,
    /* The bus or link cannot carry the requested mode. */
    INLET_ERROR_NO_BANDWIDTH = -7,
    /* The host is reachable, but nothing listens on the port. */
    INLET_ERROR_CONNECTION_REFUSED = -8,
    /* The device or server is temporarily unavailable. */
    INLET_ERROR_SERVER_UNAVAILABLE = -9,
    /* The other side disconnected. */
    INLET_ERROR_DISCONNECTED = -10,
    /* One of the plug-in's own timeouts expired. */
    INLET_ERROR_TIMED_OUT = -11,
    /* Reading or writing failed in a way that no other code covers. */
    INLET_ERROR_INPUT_OUTPUT = -12,
    /* The data does not conform to its format. */
    INLET_ERROR_MALFORMED_DATA = -13,
    /* Memory is exhausted, or one of the plug-in's own limits is reached. */
    INLET_ERROR_RESOURCE_EXHAUSTED = -14,
    /* The plug-in cannot work at all, for example because a library is missing. */
    INLET_ERROR_PLUGIN = -15,
    /* A bug in the plug-in. */
    INLET_ERROR_INTERNAL = -16,
    /* The host has cancelled the operation. */
    INLET_ERROR_CANCELLED = -17
};

/* Filled in by the function that fails. */
typedef struct inlet_error {
    uint32_t size;
    /* The errno or a library's error code; 0 if there is no such code. */
    int32_t native_code;
    /* The time to wait before the next attempt, in nanoseconds; 0 lets Inlet decide. */
    int64_t retry_after;
    /* The sentence. Text without a terminating zero byte is truncated. Control characters are escaped. */
    char message[496];
} inlet_error;

typedef int32_t inlet_log_level;
enum {
    INLET_LOG_DEBUG = 0,
    INLET_LOG_INFO = 1,
    INLET_LOG_WARNING = 2,
    INLET_LOG_ERROR = 3
};

/* The host. Exists for as long as the library is loaded. */
typedef struct inlet_host {
    uint32_t size;
    uint16_t major;
    uint16_t minor;
    /* The host's name and version, such as "inlet" and "0.9.0". Valid until deinit. */
    const char *name;
    const char *version;
    /* [any] Writes one line to the log. Beyond 100 lines in one second, lines are counted and not written. */
    void (*log)(inlet_log_level level, const char *text);
    /* [any] Returns the current time of CLOCK_MONOTONIC. */
    int64_t (*now)(void);
    /*
     * [any] Returns the struct for an id such as INLET_THREAD_CHECK_ID, valid until deinit; null if the host has no
     * such extension.
     */
    const void *(*get_extension)(const char *id);
} inlet_host;

/*
 * The entry of a plug-in, and the only symbol that it exports. It is constant, and valid while the library is loaded.
 */
typedef struct inlet_plugin {
    uint32_t size;
    /* INLET_PLUGIN_MAGIC */
    uint32_t magic;
    /* INLET_PLUGIN_MAJOR of the header that the plug-in was built with. */
    uint16_t major;
    /* The lowest minor version of the host with which the plug-in works. */
    uint16_t minor_needed;
    uint32_t reserved;
    /*
     * [control] Called before any other function. May be called more than once; each call is matched by one call of
     * deinit. Takes at most 50 ms and opens nothing. `host` stays valid until the last deinit.
     */
    inlet_result (*init)(const inlet_host *host, inlet_error *error);
    /* [any] Called after the last instance is destroyed and everything lent is released. */
    void (*deinit)(void);
    /*
     * [any] Returns the interface with an id such as INLET_SOURCE_ID, valid until deinit; null if the plug-in has no
     * such interface.
     */
    const void *(*get_interface)(const char *id);
} inlet_plugin;

extern INLET_PLUGIN_EXPORT const inlet_plugin inlet_plugin_entry;

/* An option, with the name and in the form that the manifest declares. */
typedef struct inlet_option {
    const char *name;
    const char *value;
} inlet_option;

/* The user's request. */
typedef struct inlet_configuration {
    uint32_t size;
    uint32_t option_count;
    /* The scheme, such as "bars". */
    const char *scheme;
    /* The part of the URI after the colon, without the options. */
    const char *address;
    /*
     * Every option that the manifest declares, with its default if the user did not set it. Inlet has checked names,
     * types and ranges. Secrets are included, no matter how the user provided them.
     */
    const inlet_option *options;
} inlet_configuration;

/* A fraction. A denominator of 0 means unknown. */
typedef struct inlet_rational {
    int32_t numerator;
    int32_t denominator;
} inlet_rational;

/*
 * The interpretation of samples as colour. The first three are codes of ITU-T H.273; 2 means unknown. Range: 0 unknown,
 * 1 limited, 2 full.
 */
typedef struct inlet_color {
    uint8_t primaries;
    uint8_t transfer;
    uint8_t matrix;
    uint8_t range;
} inlet_color;

enum {
    /* The outside world produces the pictures, and a picture that is not taken is lost. Example: a camera. */
    INLET_PACING_LIVE = 0,
    /* The source holds each picture back until it is due. */
    INLET_PACING_REALTIME = 1,
    /* The source produces pictures as fast as they are taken. */
    INLET_PACING_NONE = 2
};

enum {
    /* Can be decoded without anything before it. */
    INLET_FLAG_KEY = 1 << 0,
    /* The data was damaged; the picture may show it. */
    INLET_FLAG_CORRUPT = 1 << 1,
    /* The timeline restarts here: PTS before and after are unrelated. */
    INLET_FLAG_DISCONTINUITY = 1 << 2,
    /* For a packet: packets before it were lost. */
    INLET_FLAG_LOSS = 1 << 3
};

/* A source's description of itself. It states what to expect: every picture carries its own size and format. */
typedef struct inlet_stream {
    uint32_t size;
    /* INLET_PACING_... */
    uint32_t pacing;
    uint32_t width;
    uint32_t height;
    /* FFmpeg's name, such as "nv12"; "" for a source of packets. */
    char pixel_format[24];
    /* FFmpeg's name, such as "h264", for a source of packets; "" for a source of pictures. */
    char codec[24];
    /* The duration of a tick of PTS and DTS in seconds, such as 1/90000. Both parts are greater than 0. */
    inlet_rational time_base;
    inlet_rational frame_rate;
    inlet_rational sample_aspect_ratio;
    inlet_color color;
    /* The clockwise rotation, in degrees, that shows the pictures upright: 0, 90, 180 or 270. */
    uint32_t rotation;
    /* The number of bits of PTS, after which they wrap around to zero: 32 in RTP, 33 in MPEG-TS; 0 if unknown. */
    uint32_t timestamp_bits;
    /* The maximum number of pictures that are decoded before a picture that is shown earlier; 0 if unknown. */
    uint32_t reorder_depth;
    /*
     * The parameter sets of the codec, as the container has them. Valid until the next call of a function of this
     * instance.
     */
    const uint8_t *parameter_sets;
    uint64_t parameter_sets_length;
    /* The duration of the stream in ticks; 0 if unknown or endless. */
    int64_t duration;
} inlet_stream;

/* The rows of one colour component, or of several that are interleaved. */
typedef struct inlet_plane {
    /* The first byte of the memory. The top row begins `offset` bytes after it. */
    uint8_t *data;
    uint64_t length;
    uint64_t offset;
    /* The distance in bytes from one row to the row below it; negative if the picture is stored bottom-up. */
    int64_t stride;
} inlet_plane;

/* Memory of the host for one picture. */
typedef struct inlet_slot {
    uint32_t size;
    uint32_t id;
    uint32_t plane_count;
    uint32_t reserved;
    /* The planes of the requested format. Rows begin at multiples of 64 bytes. */
    inlet_plane planes[4];
} inlet_slot;

/* A picture. Fields that are not filled in are zero. */
typedef struct inlet_picture {
    uint32_t width;
    uint32_t height;
    /* FFmpeg's name. */
    char pixel_format[24];
    inlet_rational sample_aspect_ratio;
    inlet_color color;
    uint32_t rotation;
    /*
     * Not 0 if the picture is in the slot with the number `slot`; the host then takes ownership of the slot. 0 if the
     * picture is lent and described by `planes`.
     */
    uint32_t is_in_slot;
    uint32_t slot;
    uint32_t plane_count;
    uint32_t reserved;
    /* Memory of the plug-in, which must stay unchanged until `release`. Ignored if is_in_slot is not 0. */
    inlet_plane planes[4];
} inlet_picture;

/* A complete access unit of compressed video, lent until `release`. */
typedef struct inlet_packet {
    const uint8_t *data;
    uint64_t length;
    int64_t dts;
    /* The parameter sets that apply from this packet on; null if they have not changed. */
    const uint8_t *parameter_sets;
    uint64_t parameter_sets_length;
} inlet_packet;

/* A picture or packet that a source returns or a sink receives. */
typedef struct inlet_item {
    uint32_t size;
    /* 0 for a picture, 1 for a packet. */
    uint32_t is_packet;
    /* INLET_FLAG_... */
    uint32_t flags;
    uint32_t reserved;
    /*
     * The number of this picture or packet, counted from 0. A gap counts as a loss: do not leave a gap for pictures
     * that you reported with count_drop or never produced.
     */
    uint64_t sequence;
    /* The presentation time. INLET_NO_TIME if unknown: the time of arrival is then used. */
    int64_t pts;
    /* The presentation duration in ticks; 0 if unknown. */
    int64_t duration;
    /* The time at which the device exposed or read out the picture. */
    int64_t capture_time;
    /* The same time by the wall clock, if the source knows it. */
    int64_t wall_clock;
    inlet_picture picture;
    inlet_packet packet;
    /* [any] Called once when the lent memory is no longer read. May be null. */
    void (*release)(void *release_data);
    void *release_data;
} inlet_item;

/* The combined demand of all sinks. This is a hint: pictures beyond it are dropped or scaled down by Inlet. */
typedef struct inlet_demand {
    uint32_t size;
    /* 0 while no sink wants pictures. */
    uint32_t wants_pictures;
    /* Not 0 while a sink takes packets unchanged. */
    uint32_t wants_packets;
    /*
     * The number of key-frame requests since the source was opened, by sinks or by a decoder after a loss. It grows by
     * one, at most once a second. Make the device produce a key frame each time it grows.
     */
    uint32_t key_frame_requests;
    /* The maximum useful frame rate; 0/0 for all frames. */
    inlet_rational frame_rate;
    /* The maximum useful size; 0 for the source's own size. */
    uint32_t width;
    uint32_t height;
} inlet_demand;

/*
 * The functions that a source instance may call, from its creation until it is destroyed. Pass `context` to each of
 * them.
 */
typedef struct inlet_source_host {
    uint32_t size;
    /*
     * A descriptor that becomes readable when the instance is cancelled, and stays readable. Poll it together with the
     * device. Do not read from it.
     */
    int32_t wake_fd;
    void *context;
    /* [any] Not 0 once the instance is cancelled. */
    int32_t (*is_cancelled)(void *context);
    /*
     * [any] Reports that data arrived from the device, whether or not it completes a picture. A source that reports
     * progress is given more time before it is considered hung.
     */
    void (*report_progress)(void *context);
    /* [any] Counts pictures that the source dropped. The reason is one word, such as "damaged". */
    void (*count_drop)(void *context, const char *reason, uint64_t count);
    /*
     * [any] Reports that the device is unavailable for a while. The reason is a few words, such as "the shutter is
     * closed".
     */
    void (*begin_interruption)(void *context, const char *reason);
    /* [any] Reports that the device is available again. The next picture has the same effect. */
    void (*end_interruption)(void *context);
    /* [any] Gets the current demand of the sinks. Set `demand->size` first. */
    void (*get_demand)(void *context, inlet_demand *demand);
    /*
     * [capture] Gets memory for a picture. May be called only within `next`, for at most one slot at a time. The slot
     * belongs to the instance until `next` returns, with or without a picture in it. Set `slot->size` first.
     *
     * Fails with INLET_ERROR_UNSUPPORTED if the host does not know the format, with INLET_ERROR_INVALID_CONFIGURATION
     * if a side is 0 or greater than 16384, and with INLET_ERROR_RESOURCE_EXHAUSTED if there is no memory for the slot.
     */
    inlet_result (*get_slot)(
        void *context, const char *pixel_format, uint32_t width, uint32_t height, inlet_slot *slot,
        inlet_error *error);
} inlet_source_host;

typedef struct inlet_source inlet_source;

/* The interface INLET_SOURCE_ID. */
typedef struct inlet_source_interface {
    uint32_t size;
    uint32_t reserved;
    /*
     * [control] Creates an instance. Opens nothing. `configuration` may be read during the call, `host` until destroy.
     * If the function fails, there is no instance, and `*source` is not read.
     */
    inlet_result (*create)(
        const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
        inlet_error *error);
    /*
     * [capture] Opens the device or connection and describes the stream. Called once. Returns by `deadline`, and within
     * 100 ms of a cancellation. The size of `stream` is set by the caller; everything else is zero.
     */
    inlet_result (*open)(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error);
    /*
     * [capture] Waits for the next picture or packet. Returns by `deadline`, and within 100 ms of a cancellation:
     * INLET_OK with an item, INLET_AGAIN, INLET_END, or an error if the source cannot continue. The size of `item` is
     * set by the caller, times are INLET_NO_TIME, and everything else is zero.
     */
    inlet_result (*next)(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error);
    /*
     * [capture] Stops the device without closing it, and starts it again. Both may be null; Inlet then closes the
     * instance instead of pausing it, and opens a new one instead of resuming.
     */
    inlet_result (*pause)(inlet_source *source, inlet_error *error);
    inlet_result (*resume)(inlet_source *source, inlet_error *error);
    /* [capture] Closes what `open` has opened, even if it failed. Takes at most 1 s. */
    void (*close)(inlet_source *source);
    /* [control] Frees the instance. Called once. Lent memory may be released after this call. */
    void (*destroy)(inlet_source *source);
} inlet_source_interface;

/* The functions that a sink instance may call, from its creation until it is destroyed. */
typedef struct inlet_sink_host {
    uint32_t size;
    /* As in inlet_source_host; -1 if the host cannot cancel the instance. */
    int32_t wake_fd;
    void *context;
    int32_t (*is_cancelled)(void *context);
    /* [any] Requests a key frame. For sinks of packets. */
    void (*request_key_frame)(void *context);
} inlet_sink_host;

typedef struct inlet_sink inlet_sink;

/* The requirements of a sink. All zeros request every picture unchanged. */
typedef struct inlet_sink_wants {
    uint32_t size;
    /* Not 0 for the source's packets, unchanged; 0 for pictures in I420 (yuv420p). */
    uint32_t packets;
    /* The maximum size; larger pictures are scaled down. */
    uint32_t width;
    uint32_t height;
    /* The maximum frame rate. */
    inlet_rational frame_rate;
    /* Not 0 for pictures as they are stored, with their rotation; 0 for upright pictures. */
    uint32_t keeps_rotation;
    uint32_t reserved;
} inlet_sink_wants;

/* The interface INLET_SINK_ID. */
typedef struct inlet_sink_interface {
    uint32_t size;
    uint32_t reserved;
    /* [control] As for a source. The size of `wants` is set by the caller; everything else is zero. */
    inlet_result (*create)(
        const inlet_configuration *configuration, const inlet_sink_host *host, inlet_sink **sink,
        inlet_sink_wants *wants, inlet_error *error);
    /* [capture] Called before the first item, and again each time the stream has changed. */
    inlet_result (*start)(inlet_sink *sink, int64_t deadline, const inlet_stream *stream, inlet_error *error);
    /*
     * [capture] Receives a picture or packet, which may be read only during the call. Returns by `deadline`, and within
     * 100 ms of a cancellation. After an error, only this item is lost; INLET_END means that the sink wants no more
     * items. A picture always has a PTS and a `capture_time`, in ticks and on the timeline that all sinks share.
     */
    inlet_result (*consume)(inlet_sink *sink, int64_t deadline, const inlet_item *item, inlet_error *error);
    /* [capture] Writes the remaining data. Called once after start, also after an error. */
    inlet_result (*finish)(inlet_sink *sink, int64_t deadline, inlet_error *error);
    /* [control] */
    void (*destroy)(inlet_sink *sink);
} inlet_sink_interface;

/* The extension INLET_THREAD_CHECK_ID, with which a plug-in can check its own threading. */
typedef struct inlet_thread_check {
    uint32_t size;
    uint32_t reserved;
    /* [any] Return not 0 on a thread that may call functions tagged [control] or [capture], respectively. */
    int32_t (*is_control)(void);
    int32_t (*is_capture)(void);
} inlet_thread_check;

#ifdef __cplusplus
}
#endif

#endif

/*
 * inlet_plugin.h: how a program that is not part of Inlet gives it video, or takes video from it.
 *
 * A plug-in is a shared library with one exported symbol, `inlet_plugin_entry`, and a manifest NAME.inlet.json beside
 * it. Inlet reads the manifest without running code. It then loads the library in a child process of its own,
 * inlet-plugin-host, which is closed off from the network, the devices and the files that the manifest does not ask
 * for; a user who trusts the plug-in may have it loaded into Inlet's own process instead. The plug-in is the same.
 *
 * This header needs nothing but a compiler of C11 or C++17. It may be copied into other projects; its licence is that
 * of Inlet. Samples/CSource is a whole plug-in; Docs/guide/writing-a-plugin.md leads through it.
 *
 * VERSIONS
 *   INLET_PLUGIN_MAJOR changes where an old plug-in could misread something. A major version is served for two years
 *   after its successor. INLET_PLUGIN_MINOR grows with what is added. A plug-in states the least minor version that it
 *   needs, which is 0 unless it uses something marked "since 1.N".
 *   Every struct begins with its `size` in bytes, as the side that fills it in knows it, and grows at its end only. A
 *   reader treats fields beyond that size as zero. `reserved` is zero.
 *
 * THREADS
 *   [control]  called on one thread, never at once with another function of the same instance that is tagged [control]
 *              or [capture]
 *   [capture]  as [control]; from open to close it is one and the same thread, on which the plug-in may block as
 *              stated
 *   [any]      may be called on any thread, at any time
 *   Different instances may run at once, on different threads.
 *
 * OWNERSHIP
 *   Who allocates memory frees it. What a pointer in an argument leads to may be read during the call only, unless its
 *   comment says otherwise. Text is UTF-8 that ends in a zero byte; a null pointer is no text.
 *
 * ERRORS
 *   A function that can fail returns an inlet_result. If that is negative, it has filled in the inlet_error that it
 *   was given: a sentence that says what failed and what to try, without passwords.
 *
 * TIMES
 *   In nanoseconds. Those called `time` are of CLOCK_MONOTONIC, those called `wall_clock` since 1970-01-01 00:00 UTC.
 *   INLET_NO_TIME stands for none. PTS and DTS are in ticks of the stream's time base.
 */
#ifndef INLET_PLUGIN_H
#define INLET_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes I N L T in memory of a little-endian machine. */
#define INLET_PLUGIN_MAGIC UINT32_C(0x544c4e49)
#define INLET_PLUGIN_MAJOR 1
#define INLET_PLUGIN_MINOR 0

/* Ids for inlet_plugin.get_interface. What follows the slash is the revision of the interface. */
#define INLET_SOURCE_ID "inlet.source/1"
#define INLET_SINK_ID "inlet.sink/1"
/* Id for inlet_host.get_extension: an inlet_thread_check. */
#define INLET_THREAD_CHECK_ID "inlet.thread-check/1"

#define INLET_NO_TIME INT64_MIN

#if defined(__GNUC__)
#define INLET_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define INLET_PLUGIN_EXPORT
#endif

/*
 * Results. Negative ones are errors, and decide whether Inlet tries again: never after -1, -4, -15, -16, -17; at the
 * first opening not after -2, -3, -6, -13; else with growing delays.
 */
typedef int32_t inlet_result;
enum {
    INLET_OK = 0,
    /* The stream is over. */
    INLET_END = 1,
    /* The deadline passed without a picture or packet, and all is well. */
    INLET_AGAIN = 2,
    /* An option, size, rate or combination that can never work. */
    INLET_ERROR_INVALID_CONFIGURATION = -1,
    /* The file, device or host does not exist. */
    INLET_ERROR_NOT_FOUND = -2,
    /* The operating system refuses access. */
    INLET_ERROR_PERMISSION_DENIED = -3,
    /* The device or server refuses the credentials. */
    INLET_ERROR_AUTHENTICATION_FAILED = -4,
    /* Something else holds the device. */
    INLET_ERROR_BUSY = -5,
    /* It exists, but cannot do what is requested. */
    INLET_ERROR_UNSUPPORTED = -6,
    /* The bus or link cannot carry the requested mode. */
    INLET_ERROR_NO_BANDWIDTH = -7,
    /* The host is there, but nothing listens at the port. */
    INLET_ERROR_CONNECTION_REFUSED = -8,
    /* The device or server cannot serve at present. */
    INLET_ERROR_SERVER_UNAVAILABLE = -9,
    /* The other side went away. */
    INLET_ERROR_DISCONNECTED = -10,
    /* A time-out of the plug-in's own passed. */
    INLET_ERROR_TIMED_OUT = -11,
    /* Reading or writing failed in a way that no other code covers. */
    INLET_ERROR_INPUT_OUTPUT = -12,
    /* The data does not conform to its format. */
    INLET_ERROR_MALFORMED_DATA = -13,
    /* Memory, or a bound of the plug-in's own, is used up. */
    INLET_ERROR_RESOURCE_EXHAUSTED = -14,
    /* The plug-in cannot work at all, as where a library is missing. */
    INLET_ERROR_PLUGIN = -15,
    /* A mistake in the plug-in. */
    INLET_ERROR_INTERNAL = -16,
    /* The host has cancelled the operation. */
    INLET_ERROR_CANCELLED = -17
};

/* Filled in by the function that fails. */
typedef struct inlet_error {
    uint32_t size;
    /* The errno or the code of a library; 0 if there is none. */
    int32_t native_code;
    /* How long to wait before the next attempt, in nanoseconds; 0 leaves that to Inlet. */
    int64_t retry_after;
    /* The sentence. Text without a zero byte within it is cut. Control characters are escaped. */
    char message[496];
} inlet_error;

typedef int32_t inlet_log_level;
enum {
    INLET_LOG_DEBUG = 0,
    INLET_LOG_INFO = 1,
    INLET_LOG_WARNING = 2,
    INLET_LOG_ERROR = 3
};

/* The host, for as long as the library is loaded. */
typedef struct inlet_host {
    uint32_t size;
    uint16_t major;
    uint16_t minor;
    /* Such as "inlet" and "0.9.0". Valid until deinit. */
    const char *name;
    const char *version;
    /* [any] One line for the log. More than a hundred lines in a second are counted, not written. */
    void (*log)(inlet_log_level level, const char *text);
    /* [any] The present time of CLOCK_MONOTONIC. */
    int64_t (*now)(void);
    /* [any] A struct for an id such as INLET_THREAD_CHECK_ID, valid until deinit; null if there is none. */
    const void *(*get_extension)(const char *id);
} inlet_host;

/* The entry of a plug-in: the one symbol that it exports. Constant; valid while the library is loaded. */
typedef struct inlet_plugin {
    uint32_t size;
    /* INLET_PLUGIN_MAGIC */
    uint32_t magic;
    /* INLET_PLUGIN_MAJOR of the header that it was built with. */
    uint16_t major;
    /* The least minor version of the host that it can work with. */
    uint16_t minor_needed;
    uint32_t reserved;
    /*
     * [control] Called before any other function; may be called again, and is then matched by as many calls of deinit.
     * Takes at most 50 ms, opens nothing. The host stays valid until the last deinit.
     */
    inlet_result (*init)(const inlet_host *host, inlet_error *error);
    /* [any] When the last instance is destroyed, and all that was lent is released. */
    void (*deinit)(void);
    /* [any] The interface with an id such as INLET_SOURCE_ID, valid until deinit; null if there is none. */
    const void *(*get_interface)(const char *id);
} inlet_plugin;

extern INLET_PLUGIN_EXPORT const inlet_plugin inlet_plugin_entry;

/* An option, by the name and in the form that the manifest declares. */
typedef struct inlet_option {
    const char *name;
    const char *value;
} inlet_option;

/* What a user asks for. */
typedef struct inlet_configuration {
    uint32_t size;
    uint32_t option_count;
    /* The scheme, such as "bars". */
    const char *scheme;
    /* What follows the colon of the URI, up to its options. */
    const char *address;
    /*
     * Every option that the manifest declares, with its default if the user gave none. Inlet has checked names, types
     * and ranges. A secret is here, however it was given.
     */
    const inlet_option *options;
} inlet_configuration;

/* A fraction. A denominator of 0 means unknown. */
typedef struct inlet_rational {
    int32_t numerator;
    int32_t denominator;
} inlet_rational;

/* How to interpret the samples as colour: codes of ITU-T H.273, 2 for unknown. Range: 0 unknown, 1 limited, 2 full. */
typedef struct inlet_color {
    uint8_t primaries;
    uint8_t transfer;
    uint8_t matrix;
    uint8_t range;
} inlet_color;

enum {
    /* Pictures are made by the outside world, and one that is not taken is lost: a camera. */
    INLET_PACING_LIVE = 0,
    /* The source holds each picture back until it is due. */
    INLET_PACING_REALTIME = 1,
    /* Pictures are made as fast as they are taken. */
    INLET_PACING_NONE = 2
};

enum {
    /* Decodes without anything before it. */
    INLET_FLAG_KEY = 1 << 0,
    /* The data was damaged; the picture may show it. */
    INLET_FLAG_CORRUPT = 1 << 1,
    /* The timeline restarts here: PTS before and after are unrelated. */
    INLET_FLAG_DISCONTINUITY = 1 << 2,
    /* Of a packet: packets before it were lost. */
    INLET_FLAG_LOSS = 1 << 3
};

/* How a source describes itself. A statement of intent: every picture carries its own size and format. */
typedef struct inlet_stream {
    uint32_t size;
    /* INLET_PACING_... */
    uint32_t pacing;
    uint32_t width;
    uint32_t height;
    /* FFmpeg's name, such as "nv12"; "" for packets. */
    char pixel_format[24];
    /* FFmpeg's name, such as "h264", for a source of packets; "" for a source of pictures. */
    char codec[24];
    /* The length of a tick of PTS and DTS in seconds, such as 1/90000. Both parts are greater than 0. */
    inlet_rational time_base;
    inlet_rational frame_rate;
    inlet_rational sample_aspect_ratio;
    inlet_color color;
    /* Clockwise, in degrees, to show the pictures upright: 0, 90, 180, 270. */
    uint32_t rotation;
    /* The width of PTS in bits, after which they wrap to zero: 32 in RTP, 33 in MPEG-TS; 0 if unknown. */
    uint32_t timestamp_bits;
    /* How many pictures may be decoded before one that is shown earlier; 0 if unknown. */
    uint32_t reorder_depth;
    /* The parameter sets of the codec, as the container gives them. Valid until the next call of this instance. */
    const uint8_t *parameter_sets;
    uint64_t parameter_sets_length;
    /* The length in ticks; 0 if unknown or endless. */
    int64_t duration;
} inlet_stream;

/* The rows of one component, or of several in one. */
typedef struct inlet_plane {
    /* The first byte of the memory. The top row begins `offset` bytes behind it. */
    uint8_t *data;
    uint64_t length;
    uint64_t offset;
    /* From one row to the row below it, in bytes; negative if the picture is stored bottom up. */
    int64_t stride;
} inlet_plane;

/* A place of the host's for a picture. */
typedef struct inlet_slot {
    uint32_t size;
    uint32_t id;
    uint32_t plane_count;
    uint32_t reserved;
    /* Where the planes of the requested format go. Rows begin at multiples of 64 bytes. */
    inlet_plane planes[4];
} inlet_slot;

/* A picture. A field that is not filled in is zero. */
typedef struct inlet_picture {
    uint32_t width;
    uint32_t height;
    /* FFmpeg's name. */
    char pixel_format[24];
    inlet_rational sample_aspect_ratio;
    inlet_color color;
    uint32_t rotation;
    /* If not 0, the picture lies in the slot `slot`, and the host takes that over. Otherwise it is lent: see planes. */
    uint32_t is_in_slot;
    uint32_t slot;
    uint32_t plane_count;
    uint32_t reserved;
    /* Memory of the plug-in's, which stays unchanged until `release`. Not read if is_in_slot. */
    inlet_plane planes[4];
} inlet_picture;

/* A whole access unit of compressed video, lent until `release`. */
typedef struct inlet_packet {
    const uint8_t *data;
    uint64_t length;
    int64_t dts;
    /* Parameter sets that hold from this packet on; null while they stay as they are. */
    const uint8_t *parameter_sets;
    uint64_t parameter_sets_length;
} inlet_packet;

/* What a source yields, or a sink is given. */
typedef struct inlet_item {
    uint32_t size;
    /* 0 for a picture, 1 for a packet. */
    uint32_t is_packet;
    /* INLET_FLAG_... */
    uint32_t flags;
    uint32_t reserved;
    /*
     * Counts what the source has made, from 0. A gap is a loss, and counted as one; leave none for what you have
     * counted by count_drop, or never made.
     */
    uint64_t sequence;
    /* When it is shown. INLET_NO_TIME if unknown: it is then placed by its arrival. */
    int64_t pts;
    /* How long it is shown, in ticks; 0 if unknown. */
    int64_t duration;
    /* When the device exposed or read out the picture. */
    int64_t capture_time;
    /* The same by the clock of the day, if the source knows it. */
    int64_t wall_clock;
    inlet_picture picture;
    inlet_packet packet;
    /* [any] Called once when what is lent is no longer read; null if nobody needs to know. */
    void (*release)(void *release_data);
    void *release_data;
} inlet_item;

/* What all sinks together want. A hint: what arrives beyond it is thinned out and scaled. */
typedef struct inlet_demand {
    uint32_t size;
    /* 0 while nobody wants pictures. */
    uint32_t wants_pictures;
    /* Not 0 while a sink takes packets as they are. */
    uint32_t wants_packets;
    /* Counts the requests for a key frame. */
    uint32_t key_frame_requests;
    /* The most frames a second that are of use; 0/0 for all. */
    inlet_rational frame_rate;
    /* The largest size that is of use; 0 for the source's own. */
    uint32_t width;
    uint32_t height;
} inlet_demand;

/* What an instance of a source may call, from its creation until it is destroyed. Pass `context` to each. */
typedef struct inlet_source_host {
    uint32_t size;
    /* Readable once the instance is cancelled, and then for good: poll it along with the device. Do not read it. */
    int32_t wake_fd;
    void *context;
    /* [any] Not 0 once the instance is cancelled. */
    int32_t (*is_cancelled)(void *context);
    /*
     * [any] Says that data came from the device, whether or not it makes a picture. A source that says so gets more
     * time before it is taken for dead.
     */
    void (*report_progress)(void *context);
    /* [any] Counts pictures that the source gave up, by a reason of one word such as "damaged". */
    void (*count_drop)(void *context, const char *reason, uint64_t count);
    /* [any] Says that the device is unavailable for a while, by a few words: its shutter is shut, say. */
    void (*begin_interruption)(void *context, const char *reason);
    /* [any] Says that it is back. The next picture says so, too. */
    void (*end_interruption)(void *context);
    /* [any] What sinks want now. Set `demand->size` first. */
    void (*get_demand)(void *context, inlet_demand *demand);
    /*
     * [capture] A place for a picture, in `next` only. It is the instance's until `next` returns it in a picture or
     * returns without it. At most one at a time. Set `slot->size` first.
     *
     * Fails with INLET_ERROR_UNSUPPORTED for a format that the host does not know, with
     * INLET_ERROR_INVALID_CONFIGURATION for a size of 0 or beyond 16384, with INLET_ERROR_RESOURCE_EXHAUSTED where
     * there is no memory for it.
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
     * [control] Makes an instance. Opens nothing. `configuration` may be read during the call, `host` until destroy. If
     * it fails, there is no instance, and `*source` is not read.
     */
    inlet_result (*create)(
        const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
        inlet_error *error);
    /*
     * [capture] Opens the device or connection, and says what comes. Called once. Returns by `deadline`, and within
     * 100 ms of a cancellation. `stream` comes with its size set and zeros.
     */
    inlet_result (*open)(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error);
    /*
     * [capture] Waits for the next picture or packet. Returns by `deadline`, and within 100 ms of a cancellation:
     * INLET_OK with an item, INLET_AGAIN, INLET_END, or an error if it is pointless to go on. `item` comes with its
     * size set, times of INLET_NO_TIME, and zeros.
     */
    inlet_result (*next)(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error);
    /*
     * [capture] Stops the device without closing it, and starts it again. Both may be null: the instance is then
     * closed instead, and another one opened.
     */
    inlet_result (*pause)(inlet_source *source, inlet_error *error);
    inlet_result (*resume)(inlet_source *source, inlet_error *error);
    /* [capture] Closes what `open` has opened, also what a failed one left. Takes at most 1 s. */
    void (*close)(inlet_source *source);
    /* [control] Frees the instance. Called once; what is lent still may be released later. */
    void (*destroy)(inlet_source *source);
} inlet_source_interface;

/* What an instance of a sink may call, from its creation until it is destroyed. */
typedef struct inlet_sink_host {
    uint32_t size;
    /* As in inlet_source_host; -1 if nothing cancels. */
    int32_t wake_fd;
    void *context;
    int32_t (*is_cancelled)(void *context);
    /* [any] Asks for a key frame, in a sink of packets. */
    void (*request_key_frame)(void *context);
} inlet_sink_host;

typedef struct inlet_sink inlet_sink;

/* What a sink wants. Zeros want everything as it is. */
typedef struct inlet_sink_wants {
    uint32_t size;
    /* Not 0 for packets of the source as they are, 0 for pictures in I420 (yuv420p). */
    uint32_t packets;
    /* The largest size; greater pictures are scaled down. */
    uint32_t width;
    uint32_t height;
    /* The most frames a second. */
    inlet_rational frame_rate;
    /* Not 0 to get pictures as they are stored, with their rotation; 0 to get them upright. */
    uint32_t keeps_rotation;
    uint32_t reserved;
} inlet_sink_wants;

/* The interface INLET_SINK_ID. */
typedef struct inlet_sink_interface {
    uint32_t size;
    uint32_t reserved;
    /* [control] As for a source. `wants` comes with its size set and zeros. */
    inlet_result (*create)(
        const inlet_configuration *configuration, const inlet_sink_host *host, inlet_sink **sink,
        inlet_sink_wants *wants, inlet_error *error);
    /* [capture] Called before the first item, and again when the stream has changed. */
    inlet_result (*start)(inlet_sink *sink, int64_t deadline, const inlet_stream *stream, inlet_error *error);
    /*
     * [capture] Takes a picture or packet, which may be read during the call. Returns by `deadline`, and within 100 ms
     * of a cancellation. An error loses this item; INLET_END says that the sink wants no more. A picture's PTS and
     * `capture_time` are both given, in ticks and on the timeline of all sinks.
     */
    inlet_result (*consume)(inlet_sink *sink, int64_t deadline, const inlet_item *item, inlet_error *error);
    /* [capture] Writes what is left. Called once after start, also after an error. */
    inlet_result (*finish)(inlet_sink *sink, int64_t deadline, inlet_error *error);
    /* [control] */
    void (*destroy)(inlet_sink *sink);
} inlet_sink_interface;

/* The extension INLET_THREAD_CHECK_ID, for the plug-in's own checks. */
typedef struct inlet_thread_check {
    uint32_t size;
    uint32_t reserved;
    /* [any] Not 0 on a thread that may call what is tagged [control], or [capture]. */
    int32_t (*is_control)(void);
    int32_t (*is_capture)(void);
} inlet_thread_check;

#ifdef __cplusplus
}
#endif

#endif

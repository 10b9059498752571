/*
 * inlet_plugin_protocol.h: the protocol between Inlet and the child process of a plug-in.
 *
 * Plug-ins that are shared libraries do not use it: inlet-plugin-host speaks it for them. A plug-in whose manifest has
 * a `command` instead of a `library`, such as one in Python, speaks it itself.
 *
 * The child is connected to Inlet by a socket of type SOCK_SEQPACKET on descriptor INLET_CHILD_SOCKET. Each message is
 * one datagram: one of the structs below, which begins with its type, followed by further bytes if the struct's comment
 * describes them. Numbers are in the machine's byte order. The structs of a major version never grow. Inlet sends
 * requests and the child answers. Between a request and its answer, the child may send messages that need no answer. To
 * cancel, Inlet makes the wake descriptor readable, which came with inlet_create; every wait of the child must poll it.
 *
 * Pictures and packets are in slots of a shared memory, which Inlet creates, seals against a change of its size, and
 * sends. The description of a slot in a message is copied by the system together with the message, and is checked. The
 * bytes of a slot may change at any time, which can spoil the picture but nothing else.
 *
 *   Inlet                            the child
 *   INLET_MESSAGE_CREATE        ->   INLET_MESSAGE_RESULT, with `wants` for a sink
 *   INLET_MESSAGE_OPEN          ->   INLET_MESSAGE_OPENED, or INLET_MESSAGE_RESULT with an error
 *   INLET_MESSAGE_NEXT          ->   INLET_MESSAGE_ITEM, or INLET_MESSAGE_RESULT (INLET_END, INLET_AGAIN, an error)
 *   INLET_MESSAGE_PAUSE, RESUME ->   INLET_MESSAGE_RESULT; INLET_ERROR_UNSUPPORTED if the plug-in cannot pause
 *   INLET_MESSAGE_START         ->   INLET_MESSAGE_RESULT
 *   INLET_MESSAGE_CONSUME       ->   INLET_MESSAGE_RESULT (INLET_OK, INLET_END, an error)
 *   INLET_MESSAGE_CLOSE         ->   the child exits with code 0; a sink finishes first
 *   INLET_MESSAGE_SEGMENT       <-   INLET_MESSAGE_NEED_SEGMENT, before an answer
 */
#ifndef INLET_PLUGIN_PROTOCOL_H
#define INLET_PLUGIN_PROTOCOL_H

#include "inlet_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INLET_CHILD_SOCKET 3
/* The maximum length of a message, including everything after the struct. */
#define INLET_LONGEST_MESSAGE 131072
/* The maximum number of slots in a segment: each slot has one bit in a uint64_t. */
#define INLET_MOST_SLOTS 64
/* The alignment of slots, and of the planes in slots that Inlet lays out. Slot 0 is at the start of the segment. */
#define INLET_SLOT_ALIGNMENT 4096

enum {
    INLET_MESSAGE_CREATE = 1,
    INLET_MESSAGE_OPEN = 2,
    INLET_MESSAGE_NEXT = 3,
    INLET_MESSAGE_PAUSE = 4,
    INLET_MESSAGE_RESUME = 5,
    INLET_MESSAGE_CLOSE = 6,
    INLET_MESSAGE_SEGMENT = 7,
    INLET_MESSAGE_START = 8,
    INLET_MESSAGE_CONSUME = 9,

    INLET_MESSAGE_RESULT = 101,
    INLET_MESSAGE_OPENED = 102,
    INLET_MESSAGE_ITEM = 103,
    INLET_MESSAGE_NEED_SEGMENT = 104,
    /* These need no answer. */
    INLET_MESSAGE_PROGRESS = 105,
    INLET_MESSAGE_DROP = 106,
    INLET_MESSAGE_INTERRUPTION = 107,
    INLET_MESSAGE_LOG = 108,
    INLET_MESSAGE_KEY_FRAME = 109
};

enum { INLET_KIND_SOURCE = 1, INLET_KIND_SINK = 2 };

/* OPEN, PAUSE, RESUME and CLOSE from Inlet; PROGRESS and KEY_FRAME from the child. */
typedef struct inlet_message {
    uint32_t type;
    uint32_t reserved;
    /* The time at which the answer is due; INT64_MAX if there is no deadline. 0 in messages from the child. */
    int64_t deadline;
} inlet_message;

/*
 * CREATE, with the wake descriptor (SCM_RIGHTS). Followed by the scheme, the address, and the name and value of each
 * option, each with its zero byte.
 */
typedef struct inlet_create {
    uint32_t type;
    /* INLET_KIND_... */
    uint32_t kind;
    uint16_t major;
    uint16_t minor;
    uint32_t option_count;
} inlet_create;

/* NEXT. */
typedef struct inlet_next {
    uint32_t type;
    uint32_t reserved;
    int64_t deadline;
    /* One bit for each slot of the latest segment. A bit that is set lets the child write to the slot. */
    uint64_t free_slots;
    inlet_demand demand;
} inlet_next;

/* SEGMENT, with the descriptor of the shared memory. It replaces the previous segment; all its slots are free. */
typedef struct inlet_segment {
    uint32_t type;
    /* The number of the segment, from 1. */
    uint32_t number;
    /* A multiple of INLET_SLOT_ALIGNMENT. */
    uint64_t slot_length;
    uint32_t slot_count;
    uint32_t reserved;
} inlet_segment;

/* The position of a plane in a slot. */
typedef struct inlet_wire_plane {
    uint64_t offset;
    int64_t stride;
} inlet_wire_plane;

/*
 * ITEM and CONSUME. A packet occupies the first `length` bytes of the slot. Followed by the parameter sets, if they are
 * new.
 */
typedef struct inlet_wire_item {
    uint32_t type;
    uint32_t is_packet;
    uint32_t flags;
    /* The number of the segment, and of the slot in it. */
    uint32_t segment;
    uint32_t slot;
    uint32_t width;
    uint32_t height;
    uint32_t rotation;
    uint64_t sequence;
    int64_t pts;
    int64_t dts;
    int64_t duration;
    int64_t capture_time;
    int64_t wall_clock;
    uint64_t length;
    char pixel_format[24];
    inlet_rational sample_aspect_ratio;
    inlet_color color;
    uint32_t plane_count;
    inlet_wire_plane planes[4];
    uint32_t parameter_sets_length;
    uint32_t reserved;
    /* In CONSUME: the time at which the answer is due. */
    int64_t deadline;
} inlet_wire_item;

/* OPENED and START. Followed by the parameter sets. */
typedef struct inlet_wire_stream {
    uint32_t type;
    uint32_t pacing;
    uint32_t width;
    uint32_t height;
    char pixel_format[24];
    char codec[24];
    inlet_rational time_base;
    inlet_rational frame_rate;
    inlet_rational sample_aspect_ratio;
    inlet_color color;
    uint32_t rotation;
    uint32_t timestamp_bits;
    uint32_t reorder_depth;
    int64_t duration;
    uint32_t parameter_sets_length;
    /* Not 0 if the source can pause. */
    uint32_t can_pause;
    /* In START: the time at which the answer is due. */
    int64_t deadline;
} inlet_wire_stream;

/* RESULT. */
typedef struct inlet_wire_result {
    uint32_t type;
    inlet_result result;
    int32_t native_code;
    uint32_t reserved;
    int64_t retry_after;
    char message[496];
    /* For a sink, in the answer to CREATE. */
    inlet_sink_wants wants;
} inlet_wire_result;

/* NEED_SEGMENT: a picture or packet needs longer slots, or there is no segment yet. */
typedef struct inlet_need_segment {
    uint32_t type;
    uint32_t reserved;
    uint64_t slot_length;
} inlet_need_segment;

/*
 * DROP, INTERRUPTION and LOG. The text ends in a zero byte. INTERRUPTION with text begins an interruption; without text
 * it ends one.
 */
typedef struct inlet_note {
    uint32_t type;
    inlet_log_level level;
    uint64_t count;
    char text[496];
} inlet_note;

#ifdef __cplusplus
}
#endif

#endif

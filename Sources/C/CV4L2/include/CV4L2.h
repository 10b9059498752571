#pragma once

// Video for Linux 2. The request numbers of its ioctls are macros that Swift cannot import, and its structures contain
// unions that differ between the single-planar and the multi-planar API. The functions here handle both APIs, and
// return 0 or the errno.
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static const unsigned long inlet_VIDIOC_QUERYCAP = VIDIOC_QUERYCAP;
static const unsigned long inlet_VIDIOC_ENUM_FMT = VIDIOC_ENUM_FMT;
static const unsigned long inlet_VIDIOC_ENUM_FRAMESIZES = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long inlet_VIDIOC_ENUM_FRAMEINTERVALS = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long inlet_VIDIOC_REQBUFS = VIDIOC_REQBUFS;
static const unsigned long inlet_VIDIOC_STREAMON = VIDIOC_STREAMON;
static const unsigned long inlet_VIDIOC_STREAMOFF = VIDIOC_STREAMOFF;
static const unsigned long inlet_VIDIOC_G_INPUT = VIDIOC_G_INPUT;
static const unsigned long inlet_VIDIOC_S_INPUT = VIDIOC_S_INPUT;
static const unsigned long inlet_VIDIOC_QUERY_EXT_CTRL = VIDIOC_QUERY_EXT_CTRL;
static const int inlet_inotify_flags = IN_CLOEXEC | IN_NONBLOCK;
static const uint32_t inlet_inotify_mask = IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_TO;

unsigned inlet_device_major(dev_t device);

unsigned inlet_device_minor(dev_t device);

// Repeats calls that a signal interrupts. Returns 0 or errno.
int inlet_ioctl(int descriptor, unsigned long request, void *argument);

// Whether a buffer type belongs to the multi-planar API.
int inlet_v4l2_is_multiplanar(uint32_t type);

/// Combines `v4l2_pix_format` and `v4l2_pix_format_mplane`.
struct inlet_v4l2_format {
    uint32_t width, height, pixelformat, field, colorspace, ycbcr_enc, quantization, xfer_func;
    uint32_t planes;
    uint32_t bytesperline[VIDEO_MAX_PLANES], sizeimage[VIDEO_MAX_PLANES];
};

int inlet_v4l2_get_format(int descriptor, uint32_t type, struct inlet_v4l2_format *format);

int inlet_v4l2_set_format(int descriptor, uint32_t type, struct inlet_v4l2_format *format);

/// Whether the input has a television standard of 525 lines, such as NTSC, whose bottom field is the older one.
int inlet_v4l2_has_525_lines(int descriptor);

/// Lets the picture fill the whole buffer, even if another program has left it in a part of the buffer.
int inlet_v4l2_compose_whole(int descriptor, uint32_t width, uint32_t height);

/// The time per frame, which the driver may round. `capability` states whether it can be set.
int inlet_v4l2_get_interval(
    int descriptor, uint32_t type, struct v4l2_fract *interval, uint32_t *capability);

int inlet_v4l2_set_interval(int descriptor, uint32_t type, struct v4l2_fract *interval);

/// A `v4l2_buffer` of either API.
struct inlet_v4l2_buffer {
    uint32_t index, flags, sequence, field, planes;
    int64_t timestamp_ns;
    uint32_t bytesused[VIDEO_MAX_PLANES], data_offset[VIDEO_MAX_PLANES];
    uint32_t length[VIDEO_MAX_PLANES], offset[VIDEO_MAX_PLANES];
    /// For V4L2_MEMORY_USERPTR.
    void *address[VIDEO_MAX_PLANES];
};

int inlet_v4l2_query_buffer(
    int descriptor, uint32_t type, uint32_t memory, struct inlet_v4l2_buffer *buffer);

int inlet_v4l2_queue_buffer(
    int descriptor, uint32_t type, uint32_t memory, struct inlet_v4l2_buffer *buffer);

int inlet_v4l2_dequeue_buffer(
    int descriptor, uint32_t type, uint32_t memory, struct inlet_v4l2_buffer *buffer);

int inlet_v4l2_subscribe(int descriptor, uint32_t type, uint32_t id);

/// `changes` are those of a source or a control, depending on the event's type.
int inlet_v4l2_dequeue_event(int descriptor, uint32_t *type, uint32_t *id, uint32_t *changes);

/// Adopts the current timings of an HDMI or similar input.
int inlet_v4l2_adopt_timings(int descriptor);

// `v4l2_ext_control` is packed, which Swift cannot import.
int inlet_v4l2_get_control(int descriptor, uint32_t id, int64_t *value, int is_64_bit);

int inlet_v4l2_set_control(int descriptor, uint32_t id, int64_t value, int is_64_bit);

/// `text` has room for `capacity` bytes, including the terminating zero.
int inlet_v4l2_exchange_text(int descriptor, int sets, uint32_t id, char *text, uint32_t capacity);

/// Reads an item of a menu: its name, or its number in a menu of numbers.
int inlet_v4l2_query_menu(
    int descriptor, uint32_t id, uint32_t index, char name[32], int64_t *value);

#pragma once

// libv4l's converter of pixel formats, used without a device. With a device, it would also query the device's formats,
// keep its controls in shared memory, and rotate its pictures.

#include <errno.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>
#include <linux/videodev2.h>
#include <stdint.h>
#include <string.h>

/// Answers like a device that offers only `YUYV`: for a device without a common format, the converter would emulate
/// controls.
static inline int inlet_v4lconvert_ioctl(void *private_data, int descriptor, unsigned long request, void *argument) {
    (void)private_data;
    (void)descriptor;
    if (request == VIDIOC_ENUM_FMT && ((struct v4l2_fmtdesc *)argument)->index == 0) {
        ((struct v4l2_fmtdesc *)argument)->pixelformat = V4L2_PIX_FMT_YUYV;
        return 0;
    }
    if (request == VIDIOC_QUERYCAP) {
        memset(argument, 0, sizeof(struct v4l2_capability));
        return 0;
    }
    errno = EINVAL;
    return -1;
}

/// Creates a converter. Returns NULL if there is no memory.
static inline struct v4lconvert_data *inlet_v4lconvert_create(void) {
    static const struct libv4l_dev_ops operations = {.ioctl = inlet_v4lconvert_ioctl};
    return v4lconvert_create_with_dev_ops(-1, NULL, &operations);
}

/// Converts a picture to `target`, `V4L2_PIX_FMT_YUV420` or `V4L2_PIX_FMT_RGB24`, without padding. The source is
/// overwritten with some formats.
///
/// Returns the number of bytes written, or -1.
static inline int inlet_v4lconvert_convert(
    struct v4lconvert_data *converter, uint32_t pixelformat, uint32_t width, uint32_t height, uint32_t target,
    unsigned char *source, int source_size, unsigned char *destination, int destination_size) {
    struct v4l2_format from, to;
    memset(&from, 0, sizeof from);
    from.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    from.fmt.pix.width = width;
    from.fmt.pix.height = height;
    from.fmt.pix.bytesperline = width;
    from.fmt.pix.sizeimage = (uint32_t)source_size;
    to = from;
    from.fmt.pix.pixelformat = pixelformat;
    to.fmt.pix.pixelformat = target;
    v4lconvert_fixup_fmt(&to);
    return v4lconvert_convert(converter, &from, &to, source, source_size, destination, destination_size);
}

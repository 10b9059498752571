#include "CV4L2.h"

unsigned inlet_device_major(dev_t device) { return major(device); }

unsigned inlet_device_minor(dev_t device) { return minor(device); }

int inlet_ioctl(int descriptor, unsigned long request, void *argument) {
    int result;
    do {
        result = ioctl(descriptor, request, argument);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

int inlet_v4l2_is_multiplanar(uint32_t type) {
    return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE || type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
}

static int inlet_v4l2_exchange_format(
    int descriptor, unsigned long request, uint32_t type, struct inlet_v4l2_format *format) {
    struct v4l2_format native;
    memset(&native, 0, sizeof native);
    native.type = type;
    if (inlet_v4l2_is_multiplanar(type)) {
        struct v4l2_pix_format_mplane *pix = &native.fmt.pix_mp;
        if (request != VIDIOC_G_FMT) {
            pix->width = format->width;
            pix->height = format->height;
            pix->pixelformat = format->pixelformat;
            pix->field = format->field;
            pix->colorspace = format->colorspace;
            pix->ycbcr_enc = format->ycbcr_enc;
            pix->quantization = format->quantization;
            pix->xfer_func = format->xfer_func;
        }
        int error = inlet_ioctl(descriptor, request, &native);
        if (error) return error;
        format->width = pix->width;
        format->height = pix->height;
        format->pixelformat = pix->pixelformat;
        format->field = pix->field;
        format->colorspace = pix->colorspace;
        format->ycbcr_enc = pix->ycbcr_enc;
        format->quantization = pix->quantization;
        format->xfer_func = pix->xfer_func;
        format->planes = pix->num_planes <= VIDEO_MAX_PLANES ? pix->num_planes : VIDEO_MAX_PLANES;
        for (uint32_t plane = 0; plane < format->planes; plane++) {
            format->bytesperline[plane] = pix->plane_fmt[plane].bytesperline;
            format->sizeimage[plane] = pix->plane_fmt[plane].sizeimage;
        }
        return 0;
    }
    struct v4l2_pix_format *pix = &native.fmt.pix;
    if (request != VIDIOC_G_FMT) {
        pix->width = format->width;
        pix->height = format->height;
        pix->pixelformat = format->pixelformat;
        pix->field = format->field;
        pix->bytesperline = format->bytesperline[0];
        pix->sizeimage = format->sizeimage[0];
        pix->colorspace = format->colorspace;
        // Without this mark, a driver ignores the fields that follow it in the structure.
        pix->priv = V4L2_PIX_FMT_PRIV_MAGIC;
        pix->ycbcr_enc = format->ycbcr_enc;
        pix->quantization = format->quantization;
        pix->xfer_func = format->xfer_func;
    }
    int error = inlet_ioctl(descriptor, request, &native);
    if (error) return error;
    format->width = pix->width;
    format->height = pix->height;
    format->pixelformat = pix->pixelformat;
    format->field = pix->field;
    format->colorspace = pix->colorspace;
    const int is_extended = pix->priv == V4L2_PIX_FMT_PRIV_MAGIC;
    format->ycbcr_enc = is_extended ? pix->ycbcr_enc : 0;
    format->quantization = is_extended ? pix->quantization : 0;
    format->xfer_func = is_extended ? pix->xfer_func : 0;
    format->planes = 1;
    format->bytesperline[0] = pix->bytesperline;
    format->sizeimage[0] = pix->sizeimage;
    return 0;
}

int inlet_v4l2_get_format(int descriptor, uint32_t type, struct inlet_v4l2_format *format) {
    return inlet_v4l2_exchange_format(descriptor, VIDIOC_G_FMT, type, format);
}

int inlet_v4l2_set_format(int descriptor, uint32_t type, struct inlet_v4l2_format *format) {
    return inlet_v4l2_exchange_format(descriptor, VIDIOC_S_FMT, type, format);
}

int inlet_v4l2_has_525_lines(int descriptor) {
    v4l2_std_id standard = 0;
    return inlet_ioctl(descriptor, VIDIOC_G_STD, &standard) == 0 && (standard & V4L2_STD_525_60) != 0;
}

int inlet_v4l2_compose_whole(int descriptor, uint32_t width, uint32_t height) {
    struct v4l2_selection selection;
    memset(&selection, 0, sizeof selection);
    selection.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    selection.target = V4L2_SEL_TGT_COMPOSE;
    selection.r.width = width;
    selection.r.height = height;
    return inlet_ioctl(descriptor, VIDIOC_S_SELECTION, &selection);
}

int inlet_v4l2_get_interval(
    int descriptor, uint32_t type, struct v4l2_fract *interval, uint32_t *capability) {
    struct v4l2_streamparm parameters;
    memset(&parameters, 0, sizeof parameters);
    parameters.type = type;
    int error = inlet_ioctl(descriptor, VIDIOC_G_PARM, &parameters);
    if (error) return error;
    const int is_output = type == V4L2_BUF_TYPE_VIDEO_OUTPUT || type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
    *interval = is_output ? parameters.parm.output.timeperframe : parameters.parm.capture.timeperframe;
    *capability = is_output ? parameters.parm.output.capability : parameters.parm.capture.capability;
    return 0;
}

int inlet_v4l2_set_interval(int descriptor, uint32_t type, struct v4l2_fract *interval) {
    struct v4l2_streamparm parameters;
    memset(&parameters, 0, sizeof parameters);
    parameters.type = type;
    const int is_output = type == V4L2_BUF_TYPE_VIDEO_OUTPUT || type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
    if (is_output)
        parameters.parm.output.timeperframe = *interval;
    else
        parameters.parm.capture.timeperframe = *interval;
    int error = inlet_ioctl(descriptor, VIDIOC_S_PARM, &parameters);
    if (error) return error;
    *interval = is_output ? parameters.parm.output.timeperframe : parameters.parm.capture.timeperframe;
    return 0;
}

static int inlet_v4l2_exchange_buffer(
    int descriptor, unsigned long request, uint32_t type, uint32_t memory, struct inlet_v4l2_buffer *buffer) {
    struct v4l2_buffer native;
    struct v4l2_plane planes[VIDEO_MAX_PLANES];
    memset(&native, 0, sizeof native);
    memset(planes, 0, sizeof planes);
    native.type = type;
    native.memory = memory;
    native.index = buffer->index;
    const int is_multiplanar = inlet_v4l2_is_multiplanar(type);
    const int is_queued = request == VIDIOC_QBUF;
    if (is_multiplanar) {
        native.m.planes = planes;
        native.length = is_queued ? buffer->planes : VIDEO_MAX_PLANES;
        for (uint32_t plane = 0; plane < buffer->planes && is_queued; plane++) {
            planes[plane].bytesused = buffer->bytesused[plane];
            planes[plane].length = buffer->length[plane];
            if (memory == V4L2_MEMORY_USERPTR) planes[plane].m.userptr = (unsigned long)buffer->address[plane];
        }
    } else if (is_queued) {
        native.bytesused = buffer->bytesused[0];
        native.length = buffer->length[0];
        if (memory == V4L2_MEMORY_USERPTR) native.m.userptr = (unsigned long)buffer->address[0];
    }
    if (is_queued) {
        native.field = V4L2_FIELD_NONE;
        native.timestamp.tv_sec = buffer->timestamp_ns / 1000000000;
        native.timestamp.tv_usec = buffer->timestamp_ns % 1000000000 / 1000;
    }
    int error = inlet_ioctl(descriptor, request, &native);
    if (error) return error;
    buffer->index = native.index;
    buffer->flags = native.flags;
    buffer->sequence = native.sequence;
    buffer->field = native.field;
    // A driver that counts far into the future must not overflow.
    buffer->timestamp_ns = (int64_t)((uint64_t)native.timestamp.tv_sec * 1000000000u
        + (uint64_t)native.timestamp.tv_usec * 1000u);
    if (is_multiplanar) {
        buffer->planes = native.length <= VIDEO_MAX_PLANES ? native.length : VIDEO_MAX_PLANES;
        for (uint32_t plane = 0; plane < buffer->planes; plane++) {
            buffer->bytesused[plane] = planes[plane].bytesused;
            buffer->data_offset[plane] = planes[plane].data_offset;
            buffer->length[plane] = planes[plane].length;
            buffer->offset[plane] = planes[plane].m.mem_offset;
        }
    } else {
        buffer->planes = 1;
        buffer->bytesused[0] = native.bytesused;
        buffer->data_offset[0] = 0;
        buffer->length[0] = native.length;
        buffer->offset[0] = native.m.offset;
    }
    return 0;
}

int inlet_v4l2_query_buffer(
    int descriptor, uint32_t type, uint32_t memory, struct inlet_v4l2_buffer *buffer) {
    return inlet_v4l2_exchange_buffer(descriptor, VIDIOC_QUERYBUF, type, memory, buffer);
}

int inlet_v4l2_queue_buffer(
    int descriptor, uint32_t type, uint32_t memory, struct inlet_v4l2_buffer *buffer) {
    return inlet_v4l2_exchange_buffer(descriptor, VIDIOC_QBUF, type, memory, buffer);
}

int inlet_v4l2_dequeue_buffer(
    int descriptor, uint32_t type, uint32_t memory, struct inlet_v4l2_buffer *buffer) {
    return inlet_v4l2_exchange_buffer(descriptor, VIDIOC_DQBUF, type, memory, buffer);
}

int inlet_v4l2_subscribe(int descriptor, uint32_t type, uint32_t id) {
    struct v4l2_event_subscription subscription;
    memset(&subscription, 0, sizeof subscription);
    subscription.type = type;
    subscription.id = id;
    return inlet_ioctl(descriptor, VIDIOC_SUBSCRIBE_EVENT, &subscription);
}

int inlet_v4l2_dequeue_event(int descriptor, uint32_t *type, uint32_t *id, uint32_t *changes) {
    struct v4l2_event event;
    memset(&event, 0, sizeof event);
    int error = inlet_ioctl(descriptor, VIDIOC_DQEVENT, &event);
    if (error) return error;
    *type = event.type;
    *id = event.id;
    *changes = event.type == V4L2_EVENT_SOURCE_CHANGE ? event.u.src_change.changes
        : event.type == V4L2_EVENT_CTRL               ? event.u.ctrl.changes
                                                      : 0;
    return 0;
}

int inlet_v4l2_adopt_timings(int descriptor) {
    struct v4l2_dv_timings timings;
    memset(&timings, 0, sizeof timings);
    int error = inlet_ioctl(descriptor, VIDIOC_QUERY_DV_TIMINGS, &timings);
    return error ? error : inlet_ioctl(descriptor, VIDIOC_S_DV_TIMINGS, &timings);
}

int inlet_v4l2_get_control(int descriptor, uint32_t id, int64_t *value, int is_64_bit) {
    struct v4l2_ext_control control;
    struct v4l2_ext_controls controls;
    memset(&control, 0, sizeof control);
    memset(&controls, 0, sizeof controls);
    control.id = id;
    controls.which = V4L2_CTRL_WHICH_CUR_VAL;
    controls.count = 1;
    controls.controls = &control;
    int error = inlet_ioctl(descriptor, VIDIOC_G_EXT_CTRLS, &controls);
    if (!error) *value = is_64_bit ? control.value64 : control.value;
    return error;
}

int inlet_v4l2_set_control(int descriptor, uint32_t id, int64_t value, int is_64_bit) {
    struct v4l2_ext_control control;
    struct v4l2_ext_controls controls;
    memset(&control, 0, sizeof control);
    memset(&controls, 0, sizeof controls);
    control.id = id;
    if (is_64_bit)
        control.value64 = value;
    else
        control.value = (int32_t)value;
    controls.which = V4L2_CTRL_WHICH_CUR_VAL;
    controls.count = 1;
    controls.controls = &control;
    return inlet_ioctl(descriptor, VIDIOC_S_EXT_CTRLS, &controls);
}

int inlet_v4l2_exchange_text(int descriptor, int sets, uint32_t id, char *text, uint32_t capacity) {
    struct v4l2_ext_control control;
    struct v4l2_ext_controls controls;
    memset(&control, 0, sizeof control);
    memset(&controls, 0, sizeof controls);
    control.id = id;
    control.size = capacity;
    control.string = text;
    controls.which = V4L2_CTRL_WHICH_CUR_VAL;
    controls.count = 1;
    controls.controls = &control;
    return inlet_ioctl(descriptor, sets ? VIDIOC_S_EXT_CTRLS : VIDIOC_G_EXT_CTRLS, &controls);
}

int inlet_v4l2_query_menu(
    int descriptor, uint32_t id, uint32_t index, char name[32], int64_t *value) {
    struct v4l2_querymenu menu;
    memset(&menu, 0, sizeof menu);
    menu.id = id;
    menu.index = index;
    int error = inlet_ioctl(descriptor, VIDIOC_QUERYMENU, &menu);
    if (error) return error;
    int64_t number;
    memcpy(&number, menu.name, sizeof number);
    *value = number;
    memcpy(name, menu.name, 32);
    name[31] = 0;
    return 0;
}

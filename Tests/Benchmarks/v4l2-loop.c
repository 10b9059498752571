// The plain C loop that inlet's capture of a YUYV camera is compared with: VIDIOC_DQBUF, libyuv's YUY2ToI420,
// VIDIOC_QBUF.
//
// Usage: v4l2-loop DEVICE WIDTH HEIGHT FRAMES
// v4l2-cpu.c measures it.
#include <errno.h>
#include <fcntl.h>
#include <libyuv.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { buffer_count = 6 };

static void call(int descriptor, unsigned long request, void *argument, const char *name) {
    if (ioctl(descriptor, request, argument) == 0) return;
    perror(name);
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: v4l2-loop DEVICE WIDTH HEIGHT FRAMES\n");
        return 64;
    }
    const int width = atoi(arguments[2]), height = atoi(arguments[3]), frames = atoi(arguments[4]);
    const int device = open(arguments[1], O_RDWR | O_NONBLOCK);
    if (device < 0) {
        perror(arguments[1]);
        return 1;
    }
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix.width = (unsigned)width;
    format.fmt.pix.height = (unsigned)height;
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
    call(device, VIDIOC_S_FMT, &format, "VIDIOC_S_FMT");
    // Higher than any rate of the device, which then uses its highest.
    struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    parameters.parm.capture.timeperframe.numerator = 1;
    parameters.parm.capture.timeperframe.denominator = 240;
    call(device, VIDIOC_S_PARM, &parameters, "VIDIOC_S_PARM");
    struct v4l2_requestbuffers request = {
        .count = buffer_count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    call(device, VIDIOC_REQBUFS, &request, "VIDIOC_REQBUFS");
    unsigned char *memory[32];
    for (unsigned index = 0; index < request.count && index < 32; index++) {
        struct v4l2_buffer buffer = {.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        call(device, VIDIOC_QUERYBUF, &buffer, "VIDIOC_QUERYBUF");
        memory[index] = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)buffer.m.offset);
        if (memory[index] == MAP_FAILED) {
            perror("mmap");
            return 1;
        }
        call(device, VIDIOC_QBUF, &buffer, "VIDIOC_QBUF");
    }
    const int chroma = (width + 1) / 2, stride = (int)format.fmt.pix.bytesperline;
    unsigned char *picture =
        aligned_alloc(64, (size_t)(width * height + 2 * chroma * ((height + 1) / 2) + 63) / 64 * 64);
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    call(device, VIDIOC_STREAMON, &type, "VIDIOC_STREAMON");
    for (int frame = 0; frame < frames; frame++) {
        struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        while (ioctl(device, VIDIOC_DQBUF, &buffer) != 0) {
            struct pollfd waiting = {.fd = device, .events = POLLIN};
            if (errno != EAGAIN || poll(&waiting, 1, 5000) <= 0) {
                perror("VIDIOC_DQBUF");
                return 1;
            }
        }
        unsigned char *u = picture + width * height, *v = u + chroma * ((height + 1) / 2);
        YUY2ToI420(memory[buffer.index], stride, picture, width, u, chroma, v, chroma, width, height);
        call(device, VIDIOC_QBUF, &buffer, "VIDIOC_QBUF");
    }
    return 0;
}

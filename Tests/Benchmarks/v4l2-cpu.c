// Measures the cost of a part of a capture. Preloaded into a program that takes pictures from a V4L2 device by
// VIDIOC_DQBUF, it records the CPU time of the process at two pictures.
//
//   LD_PRELOAD=./v4l2-cpu.so V4L2_CPU=FILE V4L2_CPU_FRAMES=20,220 PROGRAM ...
//
// FILE gets the seconds between the two pictures, after the second has come. This excludes the start of the program,
// which costs more than the measured part on an emulated machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static atomic_long taken;
static long first, last;
static double start;
static int (*next)(int, unsigned long, void *);

__attribute__((constructor)) static void prepare(void) {
    const char *frames = getenv("V4L2_CPU_FRAMES");
    if (!frames || sscanf(frames, "%ld,%ld", &first, &last) != 2) first = last = 0;
    next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void note(void) {
    // A single thread takes the pictures, so `start` needs no lock.
    const long number = atomic_fetch_add(&taken, 1) + 1;
    if (number == first) start = cpu_seconds();
    if (number != last) return;
    const double seconds = cpu_seconds() - start;
    const char *path = getenv("V4L2_CPU");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%.6f\n", seconds);
    fclose(file);
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const int result = next(descriptor, request, argument);
    if (result == 0 && request == VIDIOC_DQBUF) note();
    return result;
}

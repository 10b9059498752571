// Passes timers of monotonic clocks to the kernel unchanged: libfaketime moves their absolute times with the faked
// time of day, even if the monotonic clocks stay real, so that they fire at once or never. Load it with LD_PRELOAD
// before libfaketime.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS = 4096 };
static char is_real[DESCRIPTORS];

int timerfd_create(int clock, int flags) {
    int descriptor = (int)syscall(SYS_timerfd_create, clock, flags);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) is_real[descriptor] = clock != CLOCK_REALTIME;
    return descriptor;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS && is_real[descriptor])
        return (int)syscall(SYS_timerfd_settime, descriptor, flags, value, old);
    int (*next)(int, int, const struct itimerspec *, struct itimerspec *) =
        (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
    return next(descriptor, flags, value, old);
}

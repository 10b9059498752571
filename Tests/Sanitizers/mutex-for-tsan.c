// Reports the waits inside Swift's Mutex to ThreadSanitizer. Loaded with LD_PRELOAD by Scripts/test --sanitize.
//
// On Linux a contended Mutex is handed over by the kernel (FUTEX_LOCK_PI), inside libswiftSynchronization, which is not
// built for ThreadSanitizer: it sees neither the lock nor the unlock, and reports races between critical sections that
// never overlap. These three functions replace the library's own, call them, and report the lock operations.
// Uncontended locking is inlined into instrumented code and needs no help.
//
// The swiftcall convention needs clang, which comes with the Swift toolchain.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Absent in processes that are not instrumented, such as SwiftPM's own.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

// Synchronization._MutexHandle._lockSlow(UInt32), ._tryLockSlow() and ._unlockSlow(), in
// stdlib/public/Synchronization/Mutex/LinuxImpl.swift.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

SWIFT void inlet_lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool inlet_try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void inlet_unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void inlet_lock_slow(uint32_t thread, SELF) {
    SWIFT void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool inlet_try_lock_slow(SELF) {
    SWIFT bool (*next)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
    bool locked = next(mutex);
    if (locked && __tsan_acquire) __tsan_acquire(mutex);
    return locked;
}

SWIFT void inlet_unlock_slow(SELF) {
    SWIFT void (*next)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}

#pragma once

// The system calls by which a process sandboxes itself, with the numbers and structs that older system headers lack.
#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Prevents this process, and programs that it executes, from gaining privileges. Returns 0, or -1 with errno.
static inline int inlet_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// Prevents other processes of the user from tracing this one and reading its memory, and prevents core files.
static inline int inlet_forbid_tracing(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// Drops all capabilities (capabilities(7)) of this process, and prevents programs that it executes from regaining them.
// Returns 0, or -1 with errno.
static inline int inlet_drop_capabilities(void) {
    // This requires CAP_SETPCAP. A process without it need not do this.
    for (int number = 0; number < 64; number++) {
        if (prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0) break;
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    // struct __user_cap_header_struct and __user_cap_data_struct of linux/capability.h, version 3: two parts of 32
    // bits.
    struct { uint32_t version; int32_t process; } header = {0x20080522, 0};
    struct { uint32_t effective, permitted, inheritable; } none[2] = {{0, 0, 0}, {0, 0, 0}};
    return (int)syscall(SYS_capset, &header, none);
}

// Forks this process, which must have only one thread. Returns as fork(2) does.
static inline int inlet_fork(void) { return fork(); }

// Makes the system kill this process when the thread that created it ends.
static inline int inlet_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0); }

// Closes all descriptors from `first` on, no matter which code opened them.
static inline int inlet_close_from(unsigned first) {
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
    return (int)syscall(SYS_close_range, first, ~0U, 0);
}

// Refers to a file without opening it: O_PATH of asm-generic/fcntl.h.
static const int inlet_open_path = 010000000 | O_CLOEXEC;

enum {
    INLET_LIMIT_MEMORY = RLIMIT_AS,
    INLET_LIMIT_DATA = RLIMIT_DATA,
    INLET_LIMIT_CORE = RLIMIT_CORE,
    INLET_LIMIT_DESCRIPTORS = RLIMIT_NOFILE,
    INLET_LIMIT_FILE = RLIMIT_FSIZE,
    INLET_LIMIT_STACK = RLIMIT_STACK,
    INLET_LIMIT_MESSAGES = RLIMIT_MSGQUEUE
};

// Lowers a limit permanently, unless it is lower already. Returns 0, or -1 with errno.
static inline int inlet_lower_limit(int kind, uint64_t most) {
    struct rlimit limit;
    if (getrlimit(kind, &limit) != 0) return -1;
    if (limit.rlim_max > most) limit.rlim_max = most;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    return setrlimit(kind, &limit);
}

// Landlock (https://docs.kernel.org/userspace-api/landlock.html). The structs are those of linux/landlock.h as of ABI
// 6. An older kernel accepts them if the fields that it does not know are zero.
struct inlet_landlock_ruleset { uint64_t files, network, scoped; };
struct inlet_landlock_path { uint64_t access; int32_t folder; } __attribute__((packed));
struct inlet_landlock_port { uint64_t access, port; };

// The kernel's version of Landlock, or -1 with errno.
static inline int inlet_landlock_version(void) { return (int)syscall(444, (void *)0, (size_t)0, 1U); }

static inline int inlet_landlock_create(const struct inlet_landlock_ruleset *ruleset) {
    return (int)syscall(444, ruleset, sizeof *ruleset, 0U);
}

static inline int inlet_landlock_allow_path(int ruleset, uint64_t access, int folder) {
    struct inlet_landlock_path rule = {access, folder};
    return (int)syscall(445, ruleset, 1, &rule, 0U);
}

static inline int inlet_landlock_allow_port(int ruleset, uint64_t access, uint64_t port) {
    struct inlet_landlock_port rule = {access, port};
    return (int)syscall(445, ruleset, 2, &rule, 0U);
}

static inline int inlet_landlock_restrict(int ruleset) { return (int)syscall(446, ruleset, 0U); }

#endif

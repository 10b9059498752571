#define _GNU_SOURCE
#include "sandbox.h"

int inlet_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int inlet_forbid_tracing(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int inlet_drop_capabilities(void) {
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

int inlet_fork(void) { return fork(); }

int inlet_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0); }

int inlet_close_from(unsigned first) {
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
    return (int)syscall(SYS_close_range, first, ~0U, 0);
}

int inlet_lower_limit(int kind, uint64_t most) {
    struct rlimit limit;
    if (getrlimit(kind, &limit) != 0) return -1;
    if (limit.rlim_max > most) limit.rlim_max = most;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    return setrlimit(kind, &limit);
}

int inlet_landlock_version(void) { return (int)syscall(444, (void *)0, (size_t)0, 1U); }

int inlet_landlock_create(const struct inlet_landlock_ruleset *ruleset) {
    return (int)syscall(444, ruleset, sizeof *ruleset, 0U);
}

int inlet_landlock_allow_path(int ruleset, uint64_t access, int folder) {
    struct inlet_landlock_path rule = {access, folder};
    return (int)syscall(445, ruleset, 1, &rule, 0U);
}

int inlet_landlock_allow_port(int ruleset, uint64_t access, uint64_t port) {
    struct inlet_landlock_port rule = {access, port};
    return (int)syscall(445, ruleset, 2, &rule, 0U);
}

int inlet_landlock_restrict(int ruleset) { return (int)syscall(446, ruleset, 0U); }

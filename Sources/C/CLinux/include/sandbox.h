#pragma once

// The system calls by which a process sandboxes itself, with the numbers and structs that older system headers lack.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Prevents this process, and programs that it executes, from gaining privileges. Returns 0, or -1 with errno.
int inlet_forbid_new_privileges(void);

// Prevents other processes of the user from tracing this one and reading its memory, and prevents core files.
int inlet_forbid_tracing(void);

// Drops all capabilities (capabilities(7)) of this process, and prevents programs that it executes from regaining them.
// Returns 0, or -1 with errno.
int inlet_drop_capabilities(void);

// Forks this process, which must have only one thread. Returns as fork(2) does.
int inlet_fork(void);

// Makes the system kill this process when the thread that created it ends.
int inlet_end_with_parent(void);

// Closes all descriptors from `first` on, no matter which code opened them.
int inlet_close_from(unsigned first);

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
int inlet_lower_limit(int kind, uint64_t most);

// Landlock (https://docs.kernel.org/userspace-api/landlock.html). The structs are those of linux/landlock.h as of ABI
// 6. An older kernel accepts them if the fields that it does not know are zero.
struct inlet_landlock_ruleset { uint64_t files, network, scoped; };

struct inlet_landlock_path { uint64_t access; int32_t folder; } __attribute__((packed));

struct inlet_landlock_port { uint64_t access, port; };

// The kernel's version of Landlock, or -1 with errno.
int inlet_landlock_version(void);

int inlet_landlock_create(const struct inlet_landlock_ruleset *ruleset);

int inlet_landlock_allow_path(int ruleset, uint64_t access, int folder);

int inlet_landlock_allow_port(int ruleset, uint64_t access, uint64_t port);

int inlet_landlock_restrict(int ruleset);

#pragma once

// System calls of Linux that Swift's Glibc module leaves out, as it is built without _GNU_SOURCE.
#ifdef __linux__

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/xattr.h>
#include <time.h>

// A file without a name. The number is that of all architectures but Alpha, PA-RISC and SPARC
// (include/uapi/asm-generic/fcntl.h).
static const int inlet_o_tmpfile = 020000000 | O_DIRECTORY;

static const int inlet_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
extern int pthread_setname_np(pthread_t, const char *);
extern int pipe2(int *, int);
extern char **environ;

// A function, as Swift takes the variable for shared state that it must guard.
static inline char **inlet_environment(void) { return environ; }

// Has a child close all descriptors from a number on, whoever opened them and however.
static inline int inlet_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
#ifdef __GLIBC__
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#else
    return 0;
#endif
}

#endif

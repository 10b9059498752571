#pragma once

// System calls of Linux that Swift's Glibc module leaves out, as it is built without _GNU_SOURCE.
#ifdef __linux__

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

static const int inlet_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
extern int pthread_setname_np(pthread_t, const char *);

#endif

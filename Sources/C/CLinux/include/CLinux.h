#pragma once

// Linux system calls that Swift's Glibc module lacks, because it is built without _GNU_SOURCE.
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "sandbox.h"

// O_TMPFILE, for a file without a name. The number is the same on all architectures except Alpha, PA-RISC and SPARC
// (include/uapi/asm-generic/fcntl.h).
static const int inlet_o_tmpfile = 020000000 | O_DIRECTORY;

static const int inlet_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;
static const int inlet_socket_close_on_exec = SOCK_CLOEXEC;

// Declared by the system's headers only with _GNU_SOURCE.
extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
extern int pthread_setname_np(pthread_t, const char *);
extern int pipe2(int[2], int);
extern char **environ;

// Limits the number of arenas of the C library's allocator, and sets the size from which it maps blocks individually,
// unless the environment sets these values: mallopt(3).
void inlet_set_allocator(int most_arenas, int mapped);

// Returns the number of the calling thread: gettid(2).
int inlet_thread_number(void);

// A function, because Swift treats the variable as shared state that needs protection.
char **inlet_environment(void);

// Makes a child close all descriptors from `first` on, no matter how they were opened.
int inlet_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// Sends a datagram, and a descriptor with it unless that is -1. Blocks only if `flags` allow it. Returns the bytes
// sent, or -1 with errno.
ssize_t inlet_send_message(int socket, const void *bytes, size_t count, int descriptor, int flags);

// Receives a datagram and its first descriptor, or -1 without one; the system closes further descriptors. Returns the
// bytes received, 0 at the end of the connection, or -1 with errno: EMSGSIZE if the datagram is longer than `count`.
ssize_t inlet_receive_message(int socket, void *bytes, size_t count, int *descriptor, int flags);

// Returns a descriptor of a child process, which becomes readable when the child ends. Unlike the process number, it
// never refers to another process. Returns -1 with errno on failure.
int inlet_process_descriptor(pid_t process);

// Sends a signal to the process of such a descriptor. Returns -1 with errno on failure.
int inlet_process_signal(int descriptor, int signal);

// Checks without waiting whether the process of such a descriptor has ended, and removes its entry unless `stays` is
// set. Returns 1 with the exit code, or with the negative number of the signal; 0 while it runs; -1 with errno: ECHILD
// if the entry was removed before.
int inlet_process_ended(int descriptor, int stays, int *code);

// Makes the system begin to write a part of a file to the disk: sync_file_range(2) with SYNC_FILE_RANGE_WRITE.
void inlet_begin_write_back(int file, int64_t offset, int64_t count);

// Returns a descriptor of new memory that is not executable. The flags are those of include/uapi/linux/memfd.h:
// CLOEXEC, ALLOW_SEALING and, from Linux 6.3 on, NOEXEC_SEAL. Returns -1 with errno on failure.
int inlet_shared_memory(const char *name);

// Fixes the size of such memory permanently: F_ADD_SEALS with SEAL, SHRINK and GROW (include/uapi/linux/fcntl.h).
// Returns -1 with errno on failure.
int inlet_seal_size(int descriptor);

// Returns a socket on which the kernel answers requests about links, addresses and routes. If `hears` is set, the
// kernel also reports changes of them there. Never blocks. Returns -1 with errno on failure.
int inlet_routing_socket(int hears);

// Requests all links, or all addresses. Returns 0, or -1 with errno.
int inlet_routing_ask_all(int socket, int addresses);

// Requests the route to an address of 4 or 16 bytes. Nothing is sent to that address. Returns 0, or -1 with errno.
int inlet_routing_ask_route(int socket, const unsigned char *address, int count);

// Receives a datagram of the kernel. Returns its length, 0 if another process sent it, or -1 with errno: EMSGSIZE if it
// is longer than `count`.
ssize_t inlet_routing_receive(int socket, void *bytes, size_t count);

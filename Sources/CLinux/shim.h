#pragma once

// System calls of Linux that Swift's Glibc module leaves out, as it is built without _GNU_SOURCE.
#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// A file without a name. The number is that of all architectures but Alpha, PA-RISC and SPARC
// (include/uapi/asm-generic/fcntl.h).
static const int inlet_o_tmpfile = 020000000 | O_DIRECTORY;

static const int inlet_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

static const int inlet_socket_close_on_exec = SOCK_CLOEXEC;

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

// Sends a datagram, and a descriptor with it unless that is -1. Blocks only where `flags` allow it. Returns the bytes
// sent, or -1 with errno.
static inline ssize_t inlet_send_message(int socket, const void *bytes, size_t count, int descriptor, int flags) {
    struct iovec part = {(void *)bytes, count};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

// Receives a datagram, and the descriptor that came with it, or -1; more than one are refused by the system, which
// closes them. Returns the bytes received, 0 at the end of the connection, or -1 with errno: EMSGSIZE where the
// datagram is longer than `count`.
static inline ssize_t inlet_receive_message(int socket, void *bytes, size_t count, int *descriptor, int flags) {
    struct iovec part = {bytes, count};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *descriptor = -1;
    ssize_t received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
            && header->cmsg_len == CMSG_LEN(sizeof(int)))
            memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    }
    if (!(message.msg_flags & MSG_TRUNC)) return received;
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    errno = EMSGSIZE;
    return -1;
}

#endif

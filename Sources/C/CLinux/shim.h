#pragma once

// Linux system calls that Swift's Glibc module lacks, because it is built without _GNU_SOURCE.
#ifdef __linux__

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

// O_TMPFILE, for a file without a name. The number is the same on all architectures except Alpha, PA-RISC and SPARC
// (include/uapi/asm-generic/fcntl.h).
static const int inlet_o_tmpfile = 020000000 | O_DIRECTORY;

static const int inlet_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

static const int inlet_socket_close_on_exec = SOCK_CLOEXEC;

extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
extern int pthread_setname_np(pthread_t, const char *);
extern int pipe2(int *, int);
extern char **environ;

// Limits the number of arenas of the C library's allocator, and sets the size from which it maps blocks individually,
// unless the environment sets these values: mallopt(3). Does nothing if the allocator has no arenas.
static inline void inlet_set_allocator(int most_arenas, int mapped) {
#ifdef M_ARENA_MAX
    const char *tunables = getenv("GLIBC_TUNABLES");
    if (tunables && strstr(tunables, "glibc.malloc.")) return;
    if (!getenv("MALLOC_ARENA_MAX")) mallopt(M_ARENA_MAX, most_arenas);
    if (!getenv("MALLOC_MMAP_THRESHOLD_")) mallopt(M_MMAP_THRESHOLD, mapped);
#else
    (void)most_arenas;
    (void)mapped;
#endif
}

// Returns the number of the calling thread: gettid(2).
static inline int inlet_thread_number(void) {
    extern long syscall(long, ...);
    return (int)syscall(SYS_gettid);
}

// A function, because Swift treats the variable as shared state that needs protection.
static inline char **inlet_environment(void) { return environ; }

// Makes a child close all descriptors from `first` on, no matter how they were opened.
static inline int inlet_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
#ifdef __GLIBC__
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#else
    return 0;
#endif
}

// Sends a datagram, and a descriptor with it unless that is -1. Blocks only if `flags` allow it. Returns the bytes
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

// Receives a datagram and its first descriptor, or -1 without one; the system closes further descriptors. Returns the
// bytes received, 0 at the end of the connection, or -1 with errno: EMSGSIZE if the datagram is longer than `count`.
static inline ssize_t inlet_receive_message(int socket, void *bytes, size_t count, int *descriptor, int flags) {
    struct iovec part = {bytes, count};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    // Not CMSG_SPACE, because the system would put a second descriptor into its padding.
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
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

// Returns a descriptor of a child process, which becomes readable when the child ends. Unlike the process number, it
// never refers to another process. Returns -1 with errno on failure.
static inline int inlet_process_descriptor(pid_t process) {
    extern long syscall(long, ...);
    return (int)syscall(SYS_pidfd_open, process, 0);
}

// Sends a signal to the process of such a descriptor. Returns -1 with errno on failure.
static inline int inlet_process_signal(int descriptor, int signal) {
    extern long syscall(long, ...);
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

// Checks without waiting whether the process of such a descriptor has ended, and removes its entry unless `stays` is
// set. Returns 1 with the exit code, or with the negative number of the signal; 0 while it runs; -1 with errno: ECHILD
// if the entry was removed before.
static inline int inlet_process_ended(int descriptor, int stays, int *code) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    // P_PIDFD, which the C library declares only with _GNU_SOURCE.
    int flags = WEXITED | WNOHANG | (stays ? WNOWAIT : 0);
    if (waitid((idtype_t)3, (id_t)descriptor, &information, flags)) return -1;
    if (!information.si_pid) return 0;
    *code = information.si_code == CLD_EXITED ? information.si_status : -information.si_status;
    return 1;
}

// Makes the system begin to write a part of a file to the disk: sync_file_range(2) with SYNC_FILE_RANGE_WRITE.
static inline void inlet_begin_write_back(int file, int64_t offset, int64_t count) {
    syscall(SYS_sync_file_range, file, offset, count, 2U);
}

// Returns a descriptor of new memory that is not executable. The flags are those of include/uapi/linux/memfd.h:
// CLOEXEC, ALLOW_SEALING and, from Linux 6.3 on, NOEXEC_SEAL. Returns -1 with errno on failure.
static inline int inlet_shared_memory(const char *name) {
    extern long syscall(long, ...);
    int descriptor = (int)syscall(SYS_memfd_create, name, 0xbu);
    return descriptor >= 0 || errno != EINVAL ? descriptor : (int)syscall(SYS_memfd_create, name, 0x3u);
}

// Fixes the size of such memory permanently: F_ADD_SEALS with SEAL, SHRINK and GROW (include/uapi/linux/fcntl.h).
// Returns -1 with errno on failure.
static inline int inlet_seal_size(int descriptor) { return fcntl(descriptor, 1033, 0x7); }

// Returns a socket on which the kernel answers requests about links, addresses and routes. If `hears` is set, the
// kernel also reports changes of them there. Never blocks. Returns -1 with errno on failure.
static inline int inlet_routing_socket(int hears) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    if (hears)
        address.nl_groups =
            RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (!bind(descriptor, (struct sockaddr *)&address, sizeof address)) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

// Requests all links, or all addresses. Returns 0, or -1 with errno.
static inline int inlet_routing_ask_all(int socket, int addresses) {
    struct {
        struct nlmsghdr header;
        struct rtgenmsg message;
    } request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.message);
    request.header.nlmsg_type = addresses ? RTM_GETADDR : RTM_GETLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.message.rtgen_family = AF_UNSPEC;
    return send(socket, &request, request.header.nlmsg_len, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

// Requests the route to an address of 4 or 16 bytes. Nothing is sent to that address. Returns 0, or -1 with errno.
static inline int inlet_routing_ask_route(int socket, const unsigned char *address, int count) {
    struct {
        struct nlmsghdr header;
        struct rtmsg message;
        struct rtattr attribute;
        unsigned char address[16];
    } request;
    memset(&request, 0, sizeof request);
    if (count != 4 && count != 16) {
        errno = EINVAL;
        return -1;
    }
    request.header.nlmsg_type = RTM_GETROUTE;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.message.rtm_family = count == 4 ? AF_INET : AF_INET6;
    request.message.rtm_dst_len = (unsigned char)(count * 8);
    request.attribute.rta_type = RTA_DST;
    request.attribute.rta_len = (unsigned short)RTA_LENGTH(count);
    memcpy(request.address, address, (size_t)count);
    request.header.nlmsg_len = (unsigned)(NLMSG_LENGTH(sizeof request.message) + RTA_LENGTH(count));
    return send(socket, &request, request.header.nlmsg_len, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

// Receives a datagram of the kernel. Returns its length, 0 if another process sent it, or -1 with errno: EMSGSIZE if it
// is longer than `count`.
static inline ssize_t inlet_routing_receive(int socket, void *bytes, size_t count) {
    struct sockaddr_nl from;
    memset(&from, 0, sizeof from);
    struct iovec part = {bytes, count};
    struct msghdr message = {
        .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t received = recvmsg(socket, &message, 0);
    if (received < 0) return received;
    if (message.msg_flags & MSG_TRUNC) {
        errno = EMSGSIZE;
        return -1;
    }
    return from.nl_pid == 0 ? received : 0;
}

#endif

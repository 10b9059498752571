#pragma once

// System calls of Linux that Swift's Glibc module leaves out, as it is built without _GNU_SOURCE.
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

// A file without a name. The number is that of all architectures but Alpha, PA-RISC and SPARC
// (include/uapi/asm-generic/fcntl.h).
static const int inlet_o_tmpfile = 020000000 | O_DIRECTORY;

static const int inlet_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

static const int inlet_socket_close_on_exec = SOCK_CLOEXEC;

extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
extern int pthread_setname_np(pthread_t, const char *);
extern int pipe2(int *, int);
extern char **environ;

// Limits the arenas of the C library's allocator, where it has any, and has blocks of so many bytes mapped one by one,
// unless the environment says otherwise: mallopt(3).
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

// gettid(2): the number of the calling thread.
static inline int inlet_thread_number(void) {
    extern long syscall(long, ...);
    return (int)syscall(SYS_gettid);
}

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

// Receives a datagram, and the first descriptor that came with it, or -1; the system closes those that there is no room
// for. Returns the bytes received, 0 at the end of the connection, or -1 with errno: EMSGSIZE where the
// datagram is longer than `count`.
static inline ssize_t inlet_receive_message(int socket, void *bytes, size_t count, int *descriptor, int flags) {
    struct iovec part = {bytes, count};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    // Not CMSG_SPACE, in whose padding the system would put a second descriptor.
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

// A descriptor that stands for a child process of this one, and becomes readable when that ends: unlike its number, it
// never comes to mean another process. Returns -1 with errno.
static inline int inlet_process_descriptor(pid_t process) {
    extern long syscall(long, ...);
    return (int)syscall(SYS_pidfd_open, process, 0);
}

// Sends a signal to the process of such a descriptor. Returns -1 with errno.
static inline int inlet_process_signal(int descriptor, int signal) {
    extern long syscall(long, ...);
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

// Asks without waiting whether the process of such a descriptor has ended, and removes its entry unless that `stays`.
// Returns 1 with the exit code, or the negative number of the signal; 0 while it runs; -1 with errno: ECHILD where the
// entry is gone.
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

// Has the system begin to write a part of a file to the disk: sync_file_range(2) with SYNC_FILE_RANGE_WRITE.
static inline void inlet_begin_write_back(int file, int64_t offset, int64_t count) {
    syscall(SYS_sync_file_range, file, offset, count, 2U);
}

// Memory with a descriptor, which may not be executed. The flags are those of include/uapi/linux/memfd.h: CLOEXEC,
// ALLOW_SEALING and, from Linux 6.3 on, NOEXEC_SEAL. Returns -1 with errno.
static inline int inlet_shared_memory(const char *name) {
    extern long syscall(long, ...);
    int descriptor = (int)syscall(SYS_memfd_create, name, 0xbu);
    return descriptor >= 0 || errno != EINVAL ? descriptor : (int)syscall(SYS_memfd_create, name, 0x3u);
}

// Fixes the size of such memory for good: F_ADD_SEALS of SEAL, SHRINK and GROW (include/uapi/linux/fcntl.h). Returns
// -1 with errno.
static inline int inlet_seal_size(int descriptor) { return fcntl(descriptor, 1033, 0x7); }

// A socket on which the kernel answers questions about links, addresses and routes and, where it `hears`, tells of
// their changes. Never blocks. Returns -1 with errno.
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

// Asks for all links, or all addresses. Returns 0, or -1 with errno.
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

// Asks for the route to an address of 4 or 16 bytes. Nothing is sent there. Returns 0, or -1 with errno.
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

// Receives a datagram of the kernel's. Returns its bytes, 0 for one of another process, or -1 with errno: EMSGSIZE
// where it is longer than `count`.
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

#define _GNU_SOURCE
#include "CLinux.h"

void inlet_set_allocator(int most_arenas, int mapped) {
    const char *tunables = getenv("GLIBC_TUNABLES");
    if (tunables && strstr(tunables, "glibc.malloc.")) return;
    if (!getenv("MALLOC_ARENA_MAX")) mallopt(M_ARENA_MAX, most_arenas);
    if (!getenv("MALLOC_MMAP_THRESHOLD_")) mallopt(M_MMAP_THRESHOLD, mapped);
}

int inlet_thread_number(void) {
    return (int)syscall(SYS_gettid);
}

char **inlet_environment(void) { return environ; }

int inlet_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

ssize_t inlet_send_message(int socket, const void *bytes, size_t count, int descriptor, int flags) {
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

ssize_t inlet_receive_message(int socket, void *bytes, size_t count, int *descriptor, int flags) {
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

int inlet_process_descriptor(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

int inlet_process_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

int inlet_process_ended(int descriptor, int stays, int *code) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    int flags = WEXITED | WNOHANG | (stays ? WNOWAIT : 0);
    if (waitid(P_PIDFD, (id_t)descriptor, &information, flags)) return -1;
    if (!information.si_pid) return 0;
    *code = information.si_code == CLD_EXITED ? information.si_status : -information.si_status;
    return 1;
}

void inlet_begin_write_back(int file, int64_t offset, int64_t count) {
    syscall(SYS_sync_file_range, file, offset, count, 2U);
}

int inlet_shared_memory(const char *name) {
    int descriptor = (int)syscall(SYS_memfd_create, name, 0xbu);
    return descriptor >= 0 || errno != EINVAL ? descriptor : (int)syscall(SYS_memfd_create, name, 0x3u);
}

int inlet_seal_size(int descriptor) { return fcntl(descriptor, 1033, 0x7); }

int inlet_routing_socket(int hears) {
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

int inlet_routing_ask_all(int socket, int addresses) {
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

int inlet_routing_ask_route(int socket, const unsigned char *address, int count) {
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

ssize_t inlet_routing_receive(int socket, void *bytes, size_t count) {
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

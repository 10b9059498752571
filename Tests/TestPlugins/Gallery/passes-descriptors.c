/* Sends Inlet a hundred descriptors, again and again. */
#include "tools.h"

static inlet_result pass(void) {
    inlet_message forged = {.type = INLET_MESSAGE_PROGRESS};
    struct iovec part = {&forged, sizeof forged};
    union {
        char bytes[CMSG_SPACE(100 * sizeof(int))];
        struct cmsghdr header;
    } control = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(100 * sizeof(int))};
    int *descriptors = (int *)(void *)CMSG_DATA(&control.header);
    for (int i = 0; i < 100; i++) descriptors[i] = INLET_CHILD_SOCKET;
    for (int i = 0; i < 50; i++) sendmsg(INLET_CHILD_SOCKET, &message, MSG_NOSIGNAL);
    return INLET_AGAIN;
}

#define IN_NEXT return pass();
#include "gallery.h"

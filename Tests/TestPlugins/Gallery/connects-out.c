/* Connects to an address of the network, without permission for it. */
#include "tools.h"
#include <arpa/inet.h>
#include <netinet/in.h>

static inlet_result attempt(inlet_error *error) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return tell(error, "Making a socket", 1);
    int refused = connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0;
    // The kernel reports that nothing listens, or that it tries: it was asked.
    return tell(error, "Connecting to 127.0.0.1", refused && (errno == EPERM || errno == EACCES));
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

/* Listens on the network, without permission for it. */
#include "tools.h"
#include <netinet/in.h>

static inlet_result attempt(inlet_error *error) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0) return tell(error, "Making a socket", 1);
    return tell(error, "Listening", bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

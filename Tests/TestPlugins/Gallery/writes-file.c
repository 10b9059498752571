/* Creates a file in /tmp. */
#include "tools.h"

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Making a file in /tmp", open("/tmp/inlet-gallery-file", O_CREAT | O_WRONLY | O_EXCL, 0600) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

/* Replaces itself by another program. */
#include "tools.h"

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Starting /bin/true", execl("/bin/true", "true", (char *)NULL) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

/* Opens /etc/shadow. */
#include "tools.h"

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Opening /etc/shadow", open("/etc/shadow", O_RDONLY) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

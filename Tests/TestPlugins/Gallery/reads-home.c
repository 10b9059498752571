/* Opens the folder of root. */
#include "tools.h"

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Opening /root", open("/root", O_RDONLY | O_DIRECTORY) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

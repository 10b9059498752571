/* Creates a user namespace, in which it would be root. */
#include "tools.h"
#include <sched.h>

static inlet_result attempt(inlet_error *error) {
    return tell(error, "Making a user namespace", unshare(CLONE_NEWUSER) < 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"

/* Opens files without closing them until none can be opened. */
#include "tools.h"

static inlet_result leak(inlet_error *error) {
    for (int i = 0; i < 5000; i++) {
        if (open("/dev/null", O_RDONLY) < 0) return tell(error, "Opening one more descriptor", 1);
    }
    return tell(error, "Opening 5000 descriptors", 0);
}

#define IN_NEXT return leak(error);
#include "gallery.h"

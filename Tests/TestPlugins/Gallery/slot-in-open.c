/* Requests a slot in `open`. */
#include "tools.h"

static inlet_result early(const inlet_source_host *host, inlet_error *error) {
    inlet_slot slot = {.size = sizeof slot};
    return host->get_slot(host->context, "gray", 64, 48, &slot, error);
}

#define IN_OPEN return early(source->host, error);
#include "gallery.h"

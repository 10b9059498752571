/* Sends Inlet two bytes. */
#include "tools.h"

static inlet_result lie(void) {
    return forge("ab", 2);
}

#define IN_NEXT return lie();
#include "gallery.h"

/* Sends Inlet random bytes. */
#include "tools.h"

static inlet_result lie(void) {
    uint8_t forged[512];
    for (size_t i = 0; i < sizeof forged; i++) forged[i] = (uint8_t)(i * 73 + 41);
    return forge(forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"

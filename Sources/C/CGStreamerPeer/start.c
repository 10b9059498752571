#ifdef INLET_GSTREAMER
#include "peer.h"
#include <ifaddrs.h>
#include <net/if.h>

const char *inlet_gst_start(void) {
    if (!gst_init_check(NULL, NULL, NULL)) return "working core (gst_init failed)";
    static const char *const needed[] = {
        "appsrc", "capsfilter", "rtph264pay", "rtpbin", "webrtcbin", "nicesrc", "dtlsenc", "srtpenc", "sctpenc", NULL,
    };
    for (int index = 0; needed[index]; index++) {
        GstElementFactory *factory = gst_element_factory_find(needed[index]);
        if (!factory) return needed[index];
        gst_object_unref(factory);
    }
    return NULL;
}

// Whether the machine has an address of this family that is not its own loopback's.
static int inlet_gst_has_family(int family) {
    struct ifaddrs *list = NULL;
    int found = 0;
    if (getifaddrs(&list)) return 1;
    for (struct ifaddrs *each = list; each; each = each->ifa_next) {
        if (!each->ifa_addr || (each->ifa_flags & IFF_LOOPBACK) || !(each->ifa_flags & IFF_UP)) continue;
        if (each->ifa_addr->sa_family == family) found = 1;
    }
    freeifaddrs(list);
    return found;
}

int inlet_gst_has_network(void) {
    return inlet_gst_has_family(AF_INET) || inlet_gst_has_family(AF_INET6);
}

int inlet_gst_has_ipv4(void) { return inlet_gst_has_family(AF_INET) || !inlet_gst_has_network(); }

void inlet_gst_free(char *text) { g_free(text); }

#endif

/* Exports functions with names of the C library, of libav, of Swift, and of Inlet, which crash. */
#include "tools.h"

#define CLASH(name)         \
    void name(void);        \
    __attribute__((visibility("default"))) void name(void) { crash(); }

CLASH(avcodec_version)
CLASH(avformat_open_input)
CLASH(swift_retain)
CLASH(swift_release)
CLASH(inlet_send_message)
CLASH(sws_scale)

#define IN_NEXT source->start += 0;
#include "gallery.h"

// Sends requests to an X server and describes its screens, with libxcb.

#define _GNU_SOURCE

#include "functions.h"
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint32_t every_plane = ~0u;

xcb_connection_t *inlet_xcb_connect(const char *display, int *screen) { return inlet_xcb.connect(display, screen); }

void inlet_xcb_disconnect(xcb_connection_t *connection) { inlet_xcb.disconnect(connection); }

bool inlet_xcb_is_broken(xcb_connection_t *connection) { return inlet_xcb.connection_has_error(connection) != 0; }

void inlet_xcb_flush(xcb_connection_t *connection) { inlet_xcb.flush(connection); }

void inlet_xcb_wait(xcb_connection_t *connection, int other, int64_t nanoseconds) {
    struct pollfd polled[] = {
        {.fd = inlet_xcb.get_file_descriptor(connection), .events = POLLIN}, {.fd = other, .events = POLLIN}};
    const struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    ppoll(polled, 2, &limit, NULL);
}

void *inlet_xcb_next_event(xcb_connection_t *connection) { return inlet_xcb.poll_for_event(connection); }

bool inlet_xcb_describe(xcb_connection_t *connection, int number, struct inlet_xcb_screen *screen) {
    const xcb_setup_t *setup = inlet_xcb.get_setup(connection);
    xcb_screen_iterator_t screens = inlet_xcb.setup_roots_iterator(setup);
    for (; screens.rem > 0 && number > 0; number--) inlet_xcb.screen_next(&screens);
    if (screens.rem <= 0) return false;
    const xcb_screen_t *found = screens.data;
    *screen = (struct inlet_xcb_screen){
        .root = found->root,
        .width = found->width_in_pixels,
        .height = found->height_in_pixels,
        .depth = found->root_depth,
        .is_big_endian = setup->image_byte_order == XCB_IMAGE_ORDER_MSB_FIRST,
    };
    const xcb_format_t *formats = inlet_xcb.setup_pixmap_formats(setup);
    for (int index = 0; index < inlet_xcb.setup_pixmap_formats_length(setup); index++) {
        if (formats[index].depth != found->root_depth) continue;
        screen->bits_per_pixel = formats[index].bits_per_pixel;
        screen->scanline_pad = formats[index].scanline_pad;
    }
    xcb_depth_iterator_t depths = inlet_xcb.screen_allowed_depths_iterator(found);
    for (; depths.rem > 0; inlet_xcb.depth_next(&depths)) {
        const xcb_visualtype_t *visuals = inlet_xcb.depth_visuals(depths.data);
        for (int index = 0; index < inlet_xcb.depth_visuals_length(depths.data); index++) {
            if (visuals[index].visual_id != found->root_visual) continue;
            screen->is_true_color = visuals[index]._class == XCB_VISUAL_CLASS_TRUE_COLOR;
            screen->red = visuals[index].red_mask;
            screen->green = visuals[index].green_mask;
            screen->blue = visuals[index].blue_mask;
            return screen->bits_per_pixel > 0;
        }
    }
    return false;
}

static xcb_extension_t *identity(enum inlet_xcb_extension extension) {
    switch (extension) {
        case inlet_xcb_shm: return inlet_xcb.shm_id;
        case inlet_xcb_xfixes: return inlet_xcb.xfixes_id;
        case inlet_xcb_damage: return inlet_xcb.damage_id;
        case inlet_xcb_randr: return inlet_xcb.randr_id;
    }
    return NULL;
}

void inlet_xcb_prefetch(xcb_connection_t *connection) {
    for (int extension = inlet_xcb_shm; extension <= inlet_xcb_randr; extension++)
        inlet_xcb.prefetch_extension_data(connection, identity(extension));
}

int inlet_xcb_first_event(xcb_connection_t *connection, enum inlet_xcb_extension extension) {
    const xcb_query_extension_reply_t *reply = inlet_xcb.get_extension_data(connection, identity(extension));
    return reply && reply->present ? reply->first_event : -1;
}

unsigned inlet_xcb_ask_focus(xcb_connection_t *connection) { return inlet_xcb.get_input_focus(connection).sequence; }

unsigned inlet_xcb_ask_geometry(xcb_connection_t *connection, xcb_window_t window) {
    return inlet_xcb.get_geometry(connection, window).sequence;
}

unsigned inlet_xcb_ask_pointer(xcb_connection_t *connection, xcb_window_t root) {
    return inlet_xcb.query_pointer(connection, root).sequence;
}

unsigned inlet_xcb_ask_cursor(xcb_connection_t *connection) {
    return inlet_xcb.xfixes_get_cursor_image(connection).sequence;
}

unsigned inlet_xcb_ask_monitors(xcb_connection_t *connection, xcb_window_t root) {
    return inlet_xcb.randr_get_monitors(connection, root, 1).sequence;
}

unsigned inlet_xcb_ask_name(xcb_connection_t *connection, xcb_atom_t atom) {
    return inlet_xcb.get_atom_name(connection, atom).sequence;
}

// Announces the versions of the extensions that Inlet uses, as X requires. Returns the number of the last request: a
// server answers in order, so its answer means that all have been answered.
unsigned inlet_xcb_ask_versions(xcb_connection_t *connection, bool xfixes, bool damage, bool randr, bool shm) {
    unsigned sequence = 0;
    if (xfixes) sequence = inlet_xcb.xfixes_query_version(connection, 2, 0).sequence;
    if (damage) sequence = inlet_xcb.damage_query_version(connection, 1, 1).sequence;
    if (randr) sequence = inlet_xcb.randr_query_version(connection, 1, 5).sequence;
    if (shm) sequence = inlet_xcb.shm_query_version(connection).sequence;
    return sequence;
}

unsigned inlet_xcb_ask_image(
    xcb_connection_t *connection, xcb_window_t window, int16_t x, int16_t y, uint16_t width, uint16_t height,
    uint32_t segment) {
    return inlet_xcb
        .shm_get_image(
            connection, window, x, y, width, height, every_plane, XCB_IMAGE_FORMAT_Z_PIXMAP, segment, 0)
        .sequence;
}

unsigned inlet_xcb_attach(xcb_connection_t *connection, int descriptor, uint32_t *segment) {
    *segment = inlet_xcb.generate_id(connection);
    return inlet_xcb.shm_attach_fd(connection, *segment, descriptor, 0).sequence;
}

void inlet_xcb_detach(xcb_connection_t *connection, uint32_t segment) {
    inlet_xcb.shm_detach(connection, segment);
}

void inlet_xcb_watch_size(xcb_connection_t *connection, xcb_window_t root) {
    const uint32_t events = XCB_EVENT_MASK_STRUCTURE_NOTIFY;
    inlet_xcb.change_window_attributes(connection, root, XCB_CW_EVENT_MASK, &events);
}

uint32_t inlet_xcb_watch_damage(xcb_connection_t *connection, xcb_window_t window) {
    uint32_t damage = inlet_xcb.generate_id(connection);
    inlet_xcb.damage_create(connection, damage, window, XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY);
    return damage;
}

void inlet_xcb_forget_damage(xcb_connection_t *connection, uint32_t damage) {
    inlet_xcb.damage_subtract(connection, damage, XCB_NONE, XCB_NONE);
}

bool inlet_xcb_poll(xcb_connection_t *connection, unsigned sequence, void **answer, int *error) {
    xcb_generic_error_t *failure = NULL;
    *answer = NULL;
    *error = 0;
    if (!inlet_xcb.poll_for_reply(connection, sequence, answer, &failure)) return false;
    if (failure) *error = failure->error_code;
    free(failure);
    return true;
}

int inlet_xcb_make_memory(uint64_t size) {
    int descriptor = memfd_create("inlet-screen", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -1;
    // A server that shrank the memory would crash this process.
    if (ftruncate(descriptor, (off_t)size) == 0 &&
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

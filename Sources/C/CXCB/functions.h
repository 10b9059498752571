#pragma once

// The functions of libxcb and its extensions that Inlet calls, found by `inlet_xcb_load`.

#include "CXCB.h"
#include <xcb/xcbext.h>

#define INLET_XCB_FUNCTIONS(X)                                                                                     \
    X(connect) X(connection_has_error) X(disconnect) X(flush) X(generate_id) X(get_file_descriptor)               \
    X(get_setup) X(setup_roots_iterator) X(screen_next) X(screen_allowed_depths_iterator) X(depth_next)            \
    X(depth_visuals) X(depth_visuals_length) X(setup_pixmap_formats) X(setup_pixmap_formats_length)                \
    X(prefetch_extension_data) X(get_extension_data) X(poll_for_event) X(poll_for_reply)                           \
    X(change_window_attributes) X(get_atom_name) X(get_geometry) X(get_input_focus) X(query_pointer)

#define INLET_XCB_SHM(X) X(shm_query_version) X(shm_attach_fd) X(shm_detach) X(shm_get_image)
#define INLET_XCB_XFIXES(X) X(xfixes_query_version) X(xfixes_get_cursor_image)
#define INLET_XCB_DAMAGE(X) X(damage_query_version) X(damage_create) X(damage_subtract)
#define INLET_XCB_RANDR(X) X(randr_query_version) X(randr_get_monitors)

#define INLET_XCB_DECLARE(name) __typeof__(xcb_##name) *name;
struct inlet_xcb_functions {
    INLET_XCB_FUNCTIONS(INLET_XCB_DECLARE)
    INLET_XCB_SHM(INLET_XCB_DECLARE)
    INLET_XCB_XFIXES(INLET_XCB_DECLARE)
    INLET_XCB_DAMAGE(INLET_XCB_DECLARE)
    INLET_XCB_RANDR(INLET_XCB_DECLARE)
    xcb_extension_t *shm_id, *xfixes_id, *damage_id, *randr_id;
};
#undef INLET_XCB_DECLARE
extern struct inlet_xcb_functions inlet_xcb;

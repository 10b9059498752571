// Draws on an X server RATE times a second, at little cost. `Scripts/bench --screen` captures the result.
//   x-pattern all|part RATE
// `all` changes every pixel of the screen, from pictures stored in the server; `part` changes an area of 256x128.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xcb/xcb.h>

enum { PICTURES = 4, TILE = 8 };

static xcb_gcontext_t context(xcb_connection_t *server, xcb_drawable_t drawable) {
    xcb_gcontext_t made = xcb_generate_id(server);
    xcb_create_gc(server, made, drawable, 0, NULL);
    return made;
}

static void fill(
    xcb_connection_t *server, xcb_drawable_t drawable, xcb_gcontext_t gc, uint32_t color, xcb_rectangle_t area) {
    xcb_change_gc(server, gc, XCB_GC_FOREGROUND, &color);
    xcb_poly_fill_rectangle(server, drawable, gc, 1, &area);
}

// Small tiles of all colours, which differ between pictures.
static void paint(
    xcb_connection_t *server, xcb_drawable_t drawable, xcb_gcontext_t gc, const xcb_screen_t *screen, uint32_t seed) {
    for (int y = 0; y < screen->height_in_pixels; y += TILE)
        for (int x = 0; x < screen->width_in_pixels; x += TILE) {
            seed = seed * 1664525 + 1013904223;
            fill(server, drawable, gc, seed >> 8, (xcb_rectangle_t){(int16_t)x, (int16_t)y, TILE, TILE});
        }
}

int main(int count, char **arguments) {
    const int all = count == 3 && strcmp(arguments[1], "all") == 0;
    const int rate = count == 3 ? atoi(arguments[2]) : 0;
    if (rate < 1 || rate > 1000 || (!all && strcmp(arguments[1], "part") != 0)) {
        fprintf(stderr, "x-pattern all|part RATE\n");
        return 64;
    }
    xcb_connection_t *server = xcb_connect(NULL, NULL);
    if (xcb_connection_has_error(server)) return 69;
    const xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(server)).data;
    xcb_window_t window = xcb_generate_id(server);
    const uint32_t values[] = {screen->black_pixel, 1};
    xcb_create_window(
        server, XCB_COPY_FROM_PARENT, window, screen->root, 0, 0, screen->width_in_pixels, screen->height_in_pixels, 0,
        XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
    xcb_map_window(server, window);
    xcb_gcontext_t gc = context(server, window);
    xcb_pixmap_t pictures[PICTURES];
    for (uint32_t index = 0; index < PICTURES; index++) {
        pictures[index] = xcb_generate_id(server);
        xcb_create_pixmap(
            server, screen->root_depth, pictures[index], window, screen->width_in_pixels, screen->height_in_pixels);
        paint(server, pictures[index], gc, screen, index + 1);
    }
    xcb_copy_area(server, pictures[0], window, gc, 0, 0, 0, 0, screen->width_in_pixels, screen->height_in_pixels);
    free(xcb_get_input_focus_reply(server, xcb_get_input_focus(server), NULL));
    puts("ready");
    fflush(stdout);

    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t number = 0; !xcb_connection_has_error(server); number++) {
        if (all)
            xcb_copy_area(
                server, pictures[number % PICTURES], window, gc, 0, 0, 0, 0, screen->width_in_pixels,
                screen->height_in_pixels);
        else
            fill(server, window, gc, number * 0x10305, (xcb_rectangle_t){64, 64, 256, 128});
        xcb_flush(server);
        for (xcb_generic_event_t *event; (event = xcb_poll_for_event(server));) free(event);
        next.tv_nsec += 1000000000 / rate;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return 1;
}

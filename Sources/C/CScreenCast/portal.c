// org.freedesktop.portal.ScreenCast by sd-bus. A method of the portal returns at once; its result comes as a signal
// `Response` of an object whose path ends in a token that the caller chose.

#define _GNU_SOURCE

#include "functions.h"
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

static const char *const service = "org.freedesktop.portal.Desktop";
static const char *const object = "/org/freedesktop/portal/desktop";
static const char *const screen_cast = "org.freedesktop.portal.ScreenCast";
static const uint64_t no_time_out = UINT64_MAX;

struct inlet_portal {
    sd_bus *bus;
    // The path of the request whose response is awaited; empty if that is the reply itself.
    char request[64];
    char *session, *token, *error_name, *error_text;
    struct inlet_portal_state state;
    int remote;
};

static void set_text(char **text, const char *value) {
    free(*text);
    *text = value ? strdup(value) : NULL;
}

static void finish(struct inlet_portal *portal, enum inlet_portal_outcome outcome) {
    if (portal->state.outcome == inlet_portal_pending) portal->state.outcome = outcome;
    portal->request[0] = 0;
}

static void fail(struct inlet_portal *portal, const char *name, const char *text) {
    set_text(&portal->error_name, name);
    set_text(&portal->error_text, text);
    finish(portal, inlet_portal_failed);
}

// Reads a dictionary of a{sv}. `read` is called inside each variant, with the variant's type, and returns 0 if it left
// it unread.
static int read_dictionary(
    sd_bus_message *message, struct inlet_portal *portal,
    int (*read)(sd_bus_message *, struct inlet_portal *, const char *key, const char *type)) {
    int result = inlet_sd_bus.message_enter_container(message, 'a', "{sv}");
    while (result >= 0 && (result = inlet_sd_bus.message_enter_container(message, 'e', "sv")) > 0) {
        const char *key = NULL, *type = NULL;
        char kind = 0;
        if ((result = inlet_sd_bus.message_read(message, "s", &key)) < 0) break;
        if ((result = inlet_sd_bus.message_peek_type(message, &kind, &type)) < 0) break;
        if ((result = inlet_sd_bus.message_enter_container(message, 'v', type)) < 0) break;
        result = read(message, portal, key, type);
        if (result == 0) result = inlet_sd_bus.message_skip(message, type);
        if (result < 0 || (result = inlet_sd_bus.message_exit_container(message)) < 0) break;
        if ((result = inlet_sd_bus.message_exit_container(message)) < 0) break;
    }
    return result < 0 ? result : inlet_sd_bus.message_exit_container(message);
}

static int read_ability(sd_bus_message *message, struct inlet_portal *portal, const char *key, const char *type) {
    if (strcmp(type, "u") != 0) return 0;
    if (strcmp(key, "version") == 0) return inlet_sd_bus.message_read(message, "u", &portal->state.version);
    if (strcmp(key, "AvailableSourceTypes") == 0)
        return inlet_sd_bus.message_read(message, "u", &portal->state.kinds);
    if (strcmp(key, "AvailableCursorModes") == 0)
        return inlet_sd_bus.message_read(message, "u", &portal->state.cursor_modes);
    return 0;
}

// The streams are a(ua{sv}). One was requested; if there are several, as some portals give by mistake, the last is the
// right one.
static int read_streams(sd_bus_message *message, struct inlet_portal *portal) {
    int result = inlet_sd_bus.message_enter_container(message, 'a', "(ua{sv})");
    while (result >= 0 && (result = inlet_sd_bus.message_enter_container(message, 'r', "ua{sv}")) > 0) {
        if ((result = inlet_sd_bus.message_read(message, "u", &portal->state.node)) < 0) break;
        if ((result = inlet_sd_bus.message_skip(message, "a{sv}")) < 0) break;
        if ((result = inlet_sd_bus.message_exit_container(message)) < 0) break;
    }
    if (result >= 0) result = inlet_sd_bus.message_exit_container(message);
    return result < 0 ? result : 1;
}

static int read_result(sd_bus_message *message, struct inlet_portal *portal, const char *key, const char *type) {
    if (strcmp(key, "streams") == 0 && strcmp(type, "a(ua{sv})") == 0) return read_streams(message, portal);
    // The session's handle is a string by mistake, which has become the interface.
    bool is_session = strcmp(key, "session_handle") == 0, is_token = strcmp(key, "restore_token") == 0;
    if (!(is_session && (!strcmp(type, "s") || !strcmp(type, "o"))) && !(is_token && !strcmp(type, "s"))) return 0;
    const char *text = NULL;
    int result = inlet_sd_bus.message_read(message, type, &text);
    if (result >= 0) set_text(is_session ? &portal->session : &portal->token, text);
    return result < 0 ? result : 1;
}

static int on_response(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct inlet_portal *portal = data;
    const char *path = inlet_sd_bus.message_get_path(message);
    const char *end = path ? strrchr(path, '/') : NULL;
    if (!end || !portal->request[0] || strcmp(end + 1, portal->request) != 0) return 0;
    uint32_t response = 0;
    int result = inlet_sd_bus.message_read(message, "u", &response);
    if (result >= 0 && response == 0) result = read_dictionary(message, portal, read_result);
    if (result < 0)
        fail(portal, "Response", "a response that does not follow the protocol");
    else
        finish(
            portal, response == 0 ? inlet_portal_done : response == 1 ? inlet_portal_denied : inlet_portal_ended);
    return 0;
}

static int on_closed(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct inlet_portal *portal = data;
    const char *path = inlet_sd_bus.message_get_path(message);
    if (portal->session && path && strcmp(path, portal->session) == 0) portal->state.is_closed = true;
    return 0;
}

static bool note_error(struct inlet_portal *portal, sd_bus_message *message) {
    const sd_bus_error *error = inlet_sd_bus.message_get_error(message);
    if (error) fail(portal, error->name, error->message);
    return error != NULL;
}

// The reply to a request: the path of its object, which is known.
static int on_reply(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    note_error(data, message);
    return 0;
}

static int on_abilities(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct inlet_portal *portal = data;
    if (note_error(portal, message)) return 0;
    if (read_dictionary(message, portal, read_ability) < 0)
        fail(portal, "GetAll", "properties that do not follow the protocol");
    else
        finish(portal, inlet_portal_done);
    return 0;
}

static int on_remote(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct inlet_portal *portal = data;
    if (note_error(portal, message)) return 0;
    int remote = -1;
    if (inlet_sd_bus.message_read(message, "h", &remote) < 0 || remote < 0 ||
        (portal->remote = fcntl(remote, F_DUPFD_CLOEXEC, 3)) < 0)
        fail(portal, "OpenPipeWireRemote", "a reply without a descriptor");
    else
        finish(portal, inlet_portal_done);
    return 0;
}

static int open_bus(sd_bus **bus, const char *address) {
    if (!address) return inlet_sd_bus.open_user(bus);
    int result = inlet_sd_bus.new(bus);
    if (result >= 0) result = inlet_sd_bus.set_address(*bus, address);
    if (result >= 0) result = inlet_sd_bus.set_bus_client(*bus, 1);
    return result < 0 ? result : inlet_sd_bus.start(*bus);
}

struct inlet_portal *inlet_portal_new(const char *address) {
    struct inlet_portal *portal = calloc(1, sizeof *portal);
    if (!portal) return NULL;
    portal->remote = -1;
    int result = open_bus(&portal->bus, address);
    if (result >= 0)
        result = inlet_sd_bus.match_signal_async(
            portal->bus, NULL, service, NULL, "org.freedesktop.portal.Request", "Response", on_response, NULL, portal);
    if (result >= 0)
        result = inlet_sd_bus.match_signal_async(
            portal->bus, NULL, service, NULL, "org.freedesktop.portal.Session", "Closed", on_closed, NULL, portal);
    if (result >= 0) return portal;
    inlet_portal_free(portal);
    errno = -result;
    return NULL;
}

static sd_bus_message *session_call(struct inlet_portal *portal, const char *member) {
    sd_bus_message *message = NULL;
    int result = inlet_sd_bus.message_new_method_call(portal->bus, &message, service, object, screen_cast, member);
    if (result >= 0 && portal->session) result = inlet_sd_bus.message_append(message, "o", portal->session);
    if (result >= 0) return message;
    inlet_sd_bus.message_unref(message);
    return NULL;
}

void inlet_portal_free(struct inlet_portal *portal) {
    if (portal->session) {
        sd_bus_message *message = NULL;
        if (inlet_sd_bus.message_new_method_call(
                portal->bus, &message, service, portal->session, "org.freedesktop.portal.Session", "Close") >= 0)
            inlet_sd_bus.send(portal->bus, message, NULL);
        inlet_sd_bus.message_unref(message);
    }
    inlet_sd_bus.close_unref(portal->bus);
    if (portal->remote >= 0) close(portal->remote);
    free(portal->session);
    free(portal->token);
    free(portal->error_name);
    free(portal->error_text);
    free(portal);
}

int inlet_portal_descriptor(struct inlet_portal *portal) { return inlet_sd_bus.get_fd(portal->bus); }

short inlet_portal_events(struct inlet_portal *portal) {
    int events = inlet_sd_bus.get_events(portal->bus);
    return events < 0 ? 0 : (short)events;
}

uint64_t inlet_portal_due(struct inlet_portal *portal) {
    uint64_t due = no_time_out;
    return inlet_sd_bus.get_timeout(portal->bus, &due) < 0 ? no_time_out : due;
}

int inlet_portal_run(struct inlet_portal *portal) {
    int result;
    // A bus with endless messages is read again later.
    for (int rounds = 0; rounds < 256; rounds++)
        if ((result = inlet_sd_bus.process(portal->bus, NULL)) <= 0) return result;
    return 0;
}

// Sends a request and takes the message over. `result` is that of filling the message.
static int ask(struct inlet_portal *portal, sd_bus_message *message, int result, sd_bus_message_handler_t reply) {
    portal->state.outcome = inlet_portal_pending;
    set_text(&portal->error_name, NULL);
    set_text(&portal->error_text, NULL);
    if (message && result >= 0)
        result = inlet_sd_bus.call_async(portal->bus, NULL, message, reply, portal, no_time_out);
    inlet_sd_bus.message_unref(message);
    return message ? (result < 0 ? result : 0) : -ENOMEDIUM;
}

// Options that name the object of the response, and further ones. Returns 0 or a negative errno.
static int append_options(struct inlet_portal *portal, sd_bus_message *message, const char *types, ...) {
    static atomic_uint count;
    snprintf(
        portal->request, sizeof portal->request, "inlet_%ld_%u", (long)getpid(), atomic_fetch_add(&count, 1));
    int result = inlet_sd_bus.message_open_container(message, 'a', "{sv}");
    if (result >= 0) result = inlet_sd_bus.message_append(message, "{sv}", "handle_token", "s", portal->request);
    va_list list;
    va_start(list, types);
    // Each of `types` is one option: its name, then a value of that type.
    for (; *types && result >= 0; types++) {
        const char *name = va_arg(list, const char *);
        const char type[] = {*types, 0};
        if (*types == 's')
            result = inlet_sd_bus.message_append(message, "{sv}", name, type, va_arg(list, const char *));
        else
            result = inlet_sd_bus.message_append(message, "{sv}", name, type, va_arg(list, uint32_t));
    }
    va_end(list);
    return result < 0 ? result : inlet_sd_bus.message_close_container(message);
}

int inlet_portal_ask_abilities(struct inlet_portal *portal) {
    sd_bus_message *message = NULL;
    int result = inlet_sd_bus.message_new_method_call(
        portal->bus, &message, service, object, "org.freedesktop.DBus.Properties", "GetAll");
    if (result >= 0) result = inlet_sd_bus.message_append(message, "s", screen_cast);
    return ask(portal, message, result, on_abilities);
}

int inlet_portal_create_session(struct inlet_portal *portal) {
    static atomic_uint count;
    char name[64];
    snprintf(name, sizeof name, "inlet_%ld_%u", (long)getpid(), atomic_fetch_add(&count, 1));
    set_text(&portal->session, NULL);
    sd_bus_message *message = session_call(portal, "CreateSession");
    return ask(
        portal, message, message ? append_options(portal, message, "s", "session_handle_token", name) : 0, on_reply);
}

int inlet_portal_select(
    struct inlet_portal *portal, uint32_t kinds, uint32_t cursor_mode, bool remembers, const char *token) {
    sd_bus_message *message = session_call(portal, "SelectSources");
    // persist_mode 2: until the user withdraws it.
    const char *types = !remembers ? "uu" : token ? "uuus" : "uuu";
    const int result = message ? append_options(
                                     portal, message, types, "types", kinds, "cursor_mode", cursor_mode, "persist_mode",
                                     (uint32_t)2, "restore_token", token)
                               : 0;
    return ask(portal, message, result, on_reply);
}

int inlet_portal_start(struct inlet_portal *portal) {
    sd_bus_message *message = session_call(portal, "Start");
    // The dialog belongs to no window.
    int result = message ? inlet_sd_bus.message_append(message, "s", "") : 0;
    if (message && result >= 0) result = append_options(portal, message, "");
    return ask(portal, message, result, on_reply);
}

int inlet_portal_open_remote(struct inlet_portal *portal) {
    sd_bus_message *message = session_call(portal, "OpenPipeWireRemote");
    return ask(portal, message, message ? inlet_sd_bus.message_append(message, "a{sv}", 0) : 0, on_remote);
}

struct inlet_portal_state inlet_portal_look(struct inlet_portal *portal) {
    struct inlet_portal_state state = portal->state;
    state.error_name = portal->error_name ? portal->error_name : "";
    state.error_text = portal->error_text ? portal->error_text : "";
    state.token = portal->token;
    return state;
}

int inlet_portal_take_remote(struct inlet_portal *portal) {
    int remote = portal->remote;
    portal->remote = -1;
    return remote;
}

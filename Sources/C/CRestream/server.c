#include "restream.h"

#ifdef INLET_RESTREAM
#include <errno.h>
#include <gio/gio.h>

// Requests with longer bodies are refused: no supported request has one.
static const guint longest_body = 64 << 10;
// The interval of the checks of connections, in milliseconds, and the time to wait for their end, in microseconds.
static const guint interval = 500;
static const gint64 farewell = 5 * G_TIME_SPAN_SECOND;

const char *inlet_restream_missing(void) {
    if (!gst_init_check(NULL, NULL, NULL)) return "GStreamer itself";
    static const char *const needed[] = {
        "appsrc", "rtpbin", "rtph264pay", "rtph265pay", "rtpvp8pay", "rtpvp9pay", "rtpjpegpay", "udpsrc",
        "multiudpsink", NULL,
    };
    for (int index = 0; needed[index]; index++) {
        GstElementFactory *factory = gst_element_factory_find(needed[index]);
        if (!factory) return needed[index];
        gst_object_unref(factory);
    }
    return NULL;
}

static gpointer run(gpointer server) {
    inlet_restream_server *own = server;
    g_main_context_push_thread_default(own->context);
    g_main_loop_run(own->loop);
    g_main_context_pop_thread_default(own->context);
    return NULL;
}

static void free_server(inlet_restream_server *server) {
    g_clear_object(&server->server);
    g_clear_object(&server->mounts);
    g_clear_pointer(&server->acceptor, g_source_unref);
    g_clear_pointer(&server->timer, g_source_unref);
    g_clear_pointer(&server->loop, g_main_loop_unref);
    g_clear_pointer(&server->context, g_main_context_unref);
    g_hash_table_unref(server->by_number);
    g_hash_table_unref(server->passwords);
    g_mutex_clear(&server->mounting);
    g_mutex_clear(&server->mutex);
    g_cond_clear(&server->changed);
    g_free(server);
}

static int number_of(const GError *error) {
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) return EADDRINUSE;
    return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED) ? EACCES : 0;
}

struct inlet_restream_users {
    GstRTSPAuth *gate;
    GHashTable *passwords;
};

inlet_restream_users *inlet_restream_users_new(void) {
    inlet_restream_users *users = g_new0(inlet_restream_users, 1);
    users->gate = inlet_restream_gate_new();
    gst_rtsp_auth_set_supported_methods(users->gate, GST_RTSP_AUTH_DIGEST);
    gst_rtsp_auth_set_realm(users->gate, "Inlet");
    users->passwords = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return users;
}

void inlet_restream_users_add(inlet_restream_users *users, const char *name, const char *password) {
    GstRTSPToken *token = gst_rtsp_token_new("user", G_TYPE_STRING, name, NULL);
    gst_rtsp_auth_add_digest(users->gate, name, password, token);
    gst_rtsp_token_unref(token);
    g_hash_table_replace(users->passwords, g_strdup(name), g_strdup(password));
}

inlet_restream_server *inlet_restream_start(const char *host, int port, inlet_restream_users *users, int most,
    inlet_restream_handlers handlers, void *owner, int *code, char **text) {
    inlet_restream_server *server = g_new0(inlet_restream_server, 1);
    g_mutex_init(&server->mounting);
    g_mutex_init(&server->mutex);
    g_cond_init(&server->changed);
    server->by_number = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    server->passwords = users->passwords;
    server->handlers = handlers;
    server->owner = owner;
    server->needs_user = g_hash_table_size(users->passwords) > 0;
    server->most = most;
    server->server = gst_rtsp_server_new();
    server->mounts = gst_rtsp_mount_points_new();
    server->context = g_main_context_new();
    server->loop = g_main_loop_new(server->context, FALSE);

    char service[12];
    g_snprintf(service, sizeof service, "%d", port);
    gst_rtsp_server_set_address(server->server, host);
    gst_rtsp_server_set_service(server->server, service);
    gst_rtsp_server_set_content_length_limit(server->server, longest_body);
    gst_rtsp_server_set_mount_points(server->server, server->mounts);
    inlet_restream_gate_serve(users->gate, server);
    gst_rtsp_server_set_auth(server->server, users->gate);
    g_object_unref(users->gate);
    g_free(users);
    GstRTSPSessionPool *sessions = gst_rtsp_server_get_session_pool(server->server);
    gst_rtsp_session_pool_set_max_sessions(sessions, (guint)most);
    g_object_unref(sessions);
    // A thread per connection, because opening a camera blocks it.
    GstRTSPThreadPool *threads = gst_rtsp_server_get_thread_pool(server->server);
    gst_rtsp_thread_pool_set_max_threads(threads, -1);
    g_object_unref(threads);
    g_signal_connect(server->server, "client-connected", G_CALLBACK(inlet_restream_client_connected), server);

    GError *error = NULL;
    server->acceptor = gst_rtsp_server_create_source(server->server, NULL, &error);
    if (!server->acceptor) {
        *code = number_of(error);
        *text = strdup(error ? error->message : "no reason given");
        g_clear_error(&error);
        free_server(server);
        return NULL;
    }
    g_source_attach(server->acceptor, server->context);
    server->timer = g_timeout_source_new(interval);
    g_source_set_callback(server->timer, inlet_restream_look_at_clients, server, NULL);
    g_source_attach(server->timer, server->context);
    server->thread = g_thread_try_new("inlet-rtsp", run, server, &error);
    if (!server->thread) {
        *code = EAGAIN;
        *text = strdup(error->message);
        g_clear_error(&error);
        g_source_destroy(server->acceptor);
        g_source_destroy(server->timer);
        free_server(server);
        return NULL;
    }
    return server;
}

int inlet_restream_port(const inlet_restream_server *server) { return gst_rtsp_server_get_bound_port(server->server); }

static gboolean quit(gpointer server) {
    g_main_loop_quit(((inlet_restream_server *)server)->loop);
    return G_SOURCE_REMOVE;
}

void inlet_restream_stop(inlet_restream_server *server) {
    // Its thread first: it accepts connections.
    g_source_destroy(server->acceptor);
    g_source_destroy(server->timer);
    GSource *last = g_idle_source_new();
    g_source_set_callback(last, quit, server, NULL);
    g_source_attach(last, server->context);
    g_source_unref(last);
    g_thread_join(server->thread);
    inlet_restream_shut_clients(server);
    // A client is freed with its media, and these with their readers, on their own threads.
    gint64 end = g_get_monotonic_time() + farewell;
    g_mutex_lock(&server->mutex);
    while (server->connections + server->readers > 0 && g_cond_wait_until(&server->changed, &server->mutex, end)) {}
    int is_left = server->connections + server->readers > 0;
    g_mutex_unlock(&server->mutex);
    // The remaining connections use the server: the process is about to end.
    if (is_left) return;
    server->handlers.release(server->owner);
    free_server(server);
}
#endif

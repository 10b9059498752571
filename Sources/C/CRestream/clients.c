#include "restream.h"

#ifdef INLET_RESTREAM
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/tcp.h>

// The time limits of a connection for its first allowed request, and after that without a session, in microseconds.
static const gint64 newcomer_patience = 10 * G_TIME_SPAN_SECOND;
static const gint64 session_patience = 30 * G_TIME_SPAN_SECOND;
// The maximum bytes of a connection before that request, and afterwards between requests, when readers send RTCP
// reports. gst-rtsp-server has no limit for headers, which take about 25 times their size in memory.
static const guint64 newcomer_bytes = 64 << 10;
static const guint64 request_bytes = 1 << 20;
// The maximum number of refused logins and requests of one connection.
static const int most_refusals = 16;
// The maximum number of connections being closed, in addition to the open ones: each has a thread.
static const int most_closing = 64;

// The time that sent data may wait for a reader that does not read, in milliseconds: then the system closes the
// connection.
static const unsigned unread_patience = 10000;

static const char known[] = "inlet-connection";
const char inlet_restream_held_reader[] = "inlet-reader";

// A connection. The server's mutex guards the fields that its timer reads.
typedef struct {
    inlet_restream_server *server;
    int64_t number;        // 0 if there is no room for it
    // The connection's socket. Shutting it down makes the connection's own thread close it: gst_rtsp_client_close is
    // not safe while that thread handles a request.
    int descriptor;
    gint64 since;          // guarded
    int is_allowed;        // guarded: whether a request was allowed
    guint64 bytes_before;  // guarded: the bytes before the last request
    int refusals;          // used only by the connection's thread
} connection;

static guint64 bytes_of(int descriptor) {
    struct tcp_info facts = {0};
    socklen_t size = sizeof facts;
    if (!getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &facts, &size)) return facts.tcpi_bytes_received;
    return 0;
}

static void shut(int descriptor) {
    if (descriptor >= 0) shutdown(descriptor, SHUT_RDWR);
}

// Whether a connection is considered. Its admission is decided when it has a number: another one may have to be closed
// for it, which takes a moment.
static int may_connect(inlet_restream_server *server) {
    g_mutex_lock(&server->mutex);
    int may = server->connections < server->most + most_closing;
    g_mutex_unlock(&server->mutex);
    return may;
}

// Records that a request has arrived, and whether it is allowed.
static void note_request(connection *client, int is_allowed) {
    guint64 bytes = bytes_of(client->descriptor);
    if (is_allowed) client->server->handlers.allow(client->server->owner, client->number);
    g_mutex_lock(&client->server->mutex);
    if (is_allowed && !client->is_allowed) {
        client->is_allowed = 1;
        client->since = g_get_monotonic_time();
    }
    if (client->is_allowed) client->bytes_before = bytes;
    g_mutex_unlock(&client->server->mutex);
}

// Decides which requests are allowed: in addition to the Digest authentication of GstRTSPAuth, for which camera.
typedef struct {
    GstRTSPAuth parent;
    inlet_restream_server *server;
} InletGate;
typedef struct {
    GstRTSPAuthClass parent;
} InletGateClass;
GType inlet_gate_get_type(void);
G_DEFINE_TYPE(InletGate, inlet_gate, GST_TYPE_RTSP_AUTH)

static gboolean refuse(GstRTSPAuth *gate, GstRTSPContext *context, GstRTSPStatusCode status) {
    gst_rtsp_message_init_response(context->response, status, gst_rtsp_status_as_text(status), context->request);
    if (status == GST_RTSP_STS_UNAUTHORIZED) GST_RTSP_AUTH_GET_CLASS(gate)->generate_authenticate_header(gate, context);
    gst_rtsp_client_send_message(context->client, context->session, context->response);
    return FALSE;
}

// The camera that a path names: its first part. To be freed by g_free; NULL without one.
static char *camera_of(const GstRTSPUrl *url) {
    if (!url || !url->abspath || url->abspath[0] != '/') return NULL;
    size_t count = strcspn(url->abspath + 1, "/");
    return count > 0 && count < 64 ? g_strndup(url->abspath + 1, count) : NULL;
}

// Adds or removes the mount point of a camera, as cameras come and go.
static void mount(inlet_restream_server *server, const char *camera, int is_there) {
    char *path = g_strconcat("/", camera, NULL);
    g_mutex_lock(&server->mounting);
    GstRTSPMediaFactory *factory = gst_rtsp_mount_points_match(server->mounts, path, NULL);
    if (is_there && !factory) {
        gst_rtsp_mount_points_add_factory(server->mounts, path, inlet_restream_factory_new(camera));
    } else if (!is_there && factory) {
        gst_rtsp_mount_points_remove_factory(server->mounts, path);
    }
    g_mutex_unlock(&server->mounting);
    g_clear_object(&factory);
    g_free(path);
}

// Compares two texts in a time that does not depend on how much of them is the same.
static int is_same(const char *text, const char *other) {
    size_t count = strlen(text);
    if (strlen(other) != count) return 0;
    unsigned char difference = 0;
    for (size_t index = 0; index < count; index++) difference |= (unsigned char)(text[index] ^ other[index]);
    return difference == 0;
}

// The user of a rejected login with the right password: its challenge has expired, or was for a
// connection that has ended. NULL if the password is wrong.
static const char *expired_user(
    inlet_restream_server *server, GstRTSPContext *context, const GstRTSPAuthCredential *login) {
    if (login->scheme != GST_RTSP_AUTH_DIGEST || !login->params) return NULL;
    const char *user = NULL, *realm = NULL, *nonce = NULL, *uri = NULL, *response = NULL;
    for (GstRTSPAuthParam **item = login->params; *item; item++) {
        const char *name = (*item)->name, *value = (*item)->value;
        if (g_strcmp0(name, "username") == 0) user = value;
        else if (g_strcmp0(name, "realm") == 0) realm = value;
        else if (g_strcmp0(name, "nonce") == 0) nonce = value;
        else if (g_strcmp0(name, "uri") == 0) uri = value;
        else if (g_strcmp0(name, "response") == 0) response = value;
    }
    gpointer known_user = NULL, password = NULL;
    if (!user || !realm || !nonce || !uri || !response) return NULL;
    if (!g_hash_table_lookup_extended(server->passwords, user, &known_user, &password)) return NULL;
    char *expected = gst_rtsp_generate_digest_auth_response(
        NULL, gst_rtsp_method_as_text(context->method), realm, user, password, uri, nonce);
    int is_right = expected && is_same(response, expected);
    g_free(expected);
    return is_right ? known_user : NULL;
}

// Logs a request in, and says as which user. Returns a status other than OK if it presents several logins, which would
// be several guesses.
static GstRTSPStatusCode log_in(GstRTSPAuth *gate, GstRTSPContext *context, inlet_restream_server *server,
    inlet_restream_login *login, const char **user) {
    GstRTSPAuthCredential **shown
        = gst_rtsp_message_parse_auth_credentials(context->request, GST_RTSP_HDR_AUTHORIZATION);
    *login = inlet_restream_no_login;
    if (!shown || !shown[0]) {
        if (shown) gst_rtsp_auth_credentials_free(shown);
        return GST_RTSP_STS_OK;
    }
    if (shown[1]) {
        gst_rtsp_auth_credentials_free(shown);
        return GST_RTSP_STS_BAD_REQUEST;
    }
    if (!context->token && !GST_RTSP_AUTH_GET_CLASS(gate)->authenticate(gate, context)) context->token = NULL;
    *user = context->token ? gst_rtsp_token_get_string(context->token, "user")
                           : expired_user(server, context, shown[0]);
    *login = context->token ? inlet_restream_right_login
                            : *user ? inlet_restream_expired_login : inlet_restream_wrong_login;
    gst_rtsp_auth_credentials_free(shown);
    return GST_RTSP_STS_OK;
}

// Refuses a request, and states the seconds after which another one may be sent.
static gboolean refuse_for_a_while(GstRTSPContext *context, connection *client, int wait) {
    if (++client->refusals > most_refusals) {
        shut(client->descriptor);
        return FALSE;
    }
    const GstRTSPStatusCode status = GST_RTSP_STS_SERVICE_UNAVAILABLE;
    gst_rtsp_message_init_response(context->response, status, gst_rtsp_status_as_text(status), context->request);
    char seconds[12];
    g_snprintf(seconds, sizeof seconds, "%d", wait);
    gst_rtsp_message_add_header(context->response, GST_RTSP_HDR_RETRY_AFTER, seconds);
    gst_rtsp_client_send_message(context->client, context->session, context->response);
    return FALSE;
}

// Each refusal costs a nonce, which is kept for half a minute, so the number per connection is limited.
static gboolean refuse_login(GstRTSPAuth *gate, GstRTSPContext *context, connection *client) {
    if (++client->refusals > most_refusals) {
        shut(client->descriptor);
        return FALSE;
    }
    return refuse(gate, context, GST_RTSP_STS_UNAUTHORIZED);
}

static gboolean check_request(GstRTSPAuth *gate, GstRTSPContext *context) {
    inlet_restream_server *server = ((InletGate *)gate)->server;
    connection *client = g_object_get_data(G_OBJECT(context->client), known);
    if (!client) return refuse(gate, context, GST_RTSP_STS_INTERNAL_SERVER_ERROR);
    // OPTIONS is answered for every client: players send it before they log in.
    const int is_public = context->method == GST_RTSP_OPTIONS;
    inlet_restream_login login = inlet_restream_no_login;
    const char *user = NULL;
    if (server->needs_user && !is_public) {
        GstRTSPStatusCode status = log_in(gate, context, server, &login, &user);
        if (status != GST_RTSP_STS_OK) return refuse(gate, context, status);
    }
    int wait = server->handlers.request(server->owner, client->number, login, user);
    if (wait > 0) {
        context->token = NULL;
        return refuse_for_a_while(context, client, wait);
    }
    if (is_public) {
        note_request(client, 0);
        return TRUE;
    }
    if (server->needs_user && !context->token) return refuse_login(gate, context, client);
    if (context->method == GST_RTSP_ANNOUNCE || context->method == GST_RTSP_RECORD) {
        return refuse(gate, context, GST_RTSP_STS_METHOD_NOT_ALLOWED);
    }
    char *camera = camera_of(context->uri);
    if (!camera) return refuse(gate, context, GST_RTSP_STS_NOT_FOUND);
    int status = server->handlers.permits(server->owner, user, camera);
    // If one user may not see a camera, others still may.
    mount(server, camera, server->handlers.permits(server->owner, NULL, camera) == inlet_restream_ok);
    g_free(camera);
    if (status != inlet_restream_ok) return refuse(gate, context, (GstRTSPStatusCode)status);
    note_request(client, 1);
    return TRUE;
}

static gboolean check(GstRTSPAuth *gate, GstRTSPContext *context, const gchar *what) {
    inlet_restream_server *server = ((InletGate *)gate)->server;
    if (g_str_equal(what, GST_RTSP_AUTH_CHECK_CONNECT)) return may_connect(server);
    if (g_str_equal(what, GST_RTSP_AUTH_CHECK_URL)) return check_request(gate, context);
    // No client may choose a destination other than its own address.
    if (g_str_equal(what, GST_RTSP_AUTH_CHECK_TRANSPORT_CLIENT_SETTINGS)) return FALSE;
    return TRUE;
}

static void inlet_gate_init(InletGate *gate) { gate->server = NULL; }

static void inlet_gate_class_init(InletGateClass *class) { GST_RTSP_AUTH_CLASS(class)->check = check; }

GstRTSPAuth *inlet_restream_gate_new(void) { return g_object_new(inlet_gate_get_type(), NULL); }

void inlet_restream_gate_serve(GstRTSPAuth *gate, inlet_restream_server *server) {
    ((InletGate *)gate)->server = server;
}

// Opens the camera before its media is made, because a failed media has one status for all reasons, and media is made
// with a lock held. Only the exact path of a camera finds it.
static GstRTSPStatusCode before_describe(GstRTSPClient *client, GstRTSPContext *context, gpointer server) {
    const connection *own = g_object_get_data(G_OBJECT(client), known);
    char *camera = camera_of(context->uri);
    int status = GST_RTSP_STS_NOT_FOUND;
    inlet_restream_reader *reader = NULL;
    if (own && camera && strcmp(camera, context->uri->abspath + 1) == 0) {
        const char *user = context->token ? gst_rtsp_token_get_string(context->token, "user") : NULL;
        reader = inlet_restream_reader_new(server, own->descriptor, user, camera, &status);
    }
    g_free(camera);
    if (!reader) return (GstRTSPStatusCode)status;
    g_object_set_data_full(G_OBJECT(client), inlet_restream_held_reader, reader, inlet_restream_reader_free);
    return GST_RTSP_STS_OK;
}

// A second request for the same path has opened the camera twice, and only one reader was used.
static void after_describe(GstRTSPClient *client, GstRTSPContext *context, gpointer server) {
    (void)context;
    (void)server;
    g_object_set_data(G_OBJECT(client), inlet_restream_held_reader, NULL);
}

static void closed(GstRTSPClient *client, gpointer server) {
    (void)server;
    g_object_set_data(G_OBJECT(client), inlet_restream_held_reader, NULL);
}

// Called when the connection's client is freed.
static void connection_free(gpointer pointer) {
    connection *client = pointer;
    inlet_restream_server *server = client->server;
    if (client->number) server->handlers.leave(server->owner, client->number);
    g_mutex_lock(&server->mutex);
    g_hash_table_remove(server->by_number, &client->number);
    // Not earlier: another thread may shut it down by its number.
    if (client->descriptor >= 0) close(client->descriptor);
    server->connections--;
    g_cond_broadcast(&server->changed);
    g_mutex_unlock(&server->mutex);
    g_free(client);
}

// RTSP within HTTP uses two connections, for which the limits of one do not work, so it is refused.
static void refuse_tunnel(GstRTSPClient *client, GstRTSPMessage *request, GstRTSPMessage *response) {
    (void)request;
    (void)response;
    connection *own = g_object_get_data(G_OBJECT(client), known);
    if (own) shut(own->descriptor);
}

void inlet_restream_client_connected(GstRTSPServer *object, GstRTSPClient *client, gpointer server) {
    (void)object;
    inlet_restream_server *own = server;
    GstRTSPConnection *link = gst_rtsp_client_get_connection(client);
    GSocket *socket = link ? gst_rtsp_connection_get_read_socket(link) : NULL;
    const char *address = link ? gst_rtsp_connection_get_ip(link) : NULL;
    connection *state = g_new0(connection, 1);
    state->server = own;
    int64_t replaced = 0;
    state->number = own->handlers.admit(own->owner, address ? address : "", &replaced);
    state->descriptor = socket ? dup(g_socket_get_fd(socket)) : -1;
    state->since = g_get_monotonic_time();
#ifdef TCP_USER_TIMEOUT
    setsockopt(state->descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unread_patience, sizeof unread_patience);
#endif
    g_mutex_lock(&own->mutex);
    own->connections++;
    if (state->number) {
        int64_t *key = g_new(int64_t, 1);
        *key = state->number;
        g_hash_table_replace(own->by_number, key, GINT_TO_POINTER(state->descriptor));
    }
    gpointer other = NULL;
    if (replaced && g_hash_table_lookup_extended(own->by_number, &replaced, NULL, &other)) shut(GPOINTER_TO_INT(other));
    g_mutex_unlock(&own->mutex);
    if (!state->number) shut(state->descriptor);
    g_object_set_data_full(G_OBJECT(client), known, state, connection_free);
    GST_RTSP_CLIENT_GET_CLASS(client)->tunnel_http_response = refuse_tunnel;
    g_signal_connect(client, "closed", G_CALLBACK(closed), server);
    g_signal_connect(client, "pre-describe-request", G_CALLBACK(before_describe), server);
    g_signal_connect(client, "describe-request", G_CALLBACK(after_describe), server);
}

static GstRTSPFilterResult look_at(GstRTSPServer *object, GstRTSPClient *client, gpointer server) {
    (void)object;
    inlet_restream_server *own = server;
    const connection *state = g_object_get_data(G_OBJECT(client), known);
    if (!state) return GST_RTSP_FILTER_KEEP;
    guint64 bytes = bytes_of(state->descriptor);
    g_mutex_lock(&own->mutex);
    int is_allowed = state->is_allowed;
    gint64 age = g_get_monotonic_time() - state->since;
    int is_long = bytes > state->bytes_before + (is_allowed ? request_bytes : newcomer_bytes);
    g_mutex_unlock(&own->mutex);
    int is_late = age > (is_allowed ? session_patience : newcomer_patience);
    if (is_late && is_allowed) {
        GList *sessions = gst_rtsp_client_session_filter(client, NULL, NULL);
        is_late = sessions == NULL;
        g_list_free_full(sessions, g_object_unref);
    }
    if (is_late || is_long) shut(state->descriptor);
    return GST_RTSP_FILTER_KEEP;
}

gboolean inlet_restream_look_at_clients(gpointer server) {
    inlet_restream_server *own = server;
    gst_rtsp_server_client_filter(own->server, look_at, server);
    GstRTSPSessionPool *sessions = gst_rtsp_server_get_session_pool(own->server);
    gst_rtsp_session_pool_cleanup(sessions);
    g_object_unref(sessions);
    return G_SOURCE_CONTINUE;
}

static GstRTSPFilterResult shut_client(GstRTSPServer *object, GstRTSPClient *client, gpointer server) {
    (void)object;
    (void)server;
    const connection *state = g_object_get_data(G_OBJECT(client), known);
    if (state) shut(state->descriptor);
    return GST_RTSP_FILTER_KEEP;
}

void inlet_restream_shut_clients(inlet_restream_server *server) {
    gst_rtsp_server_client_filter(server->server, shut_client, server);
}
#endif

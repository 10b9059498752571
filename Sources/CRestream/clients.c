#include "restream.h"

#ifdef INLET_RESTREAM
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/tcp.h>
#endif

// How long a connection may take to its first request that is allowed, and after that be without a session, in
// microseconds.
static const gint64 newcomer_patience = 10 * G_TIME_SPAN_SECOND;
static const gint64 session_patience = 30 * G_TIME_SPAN_SECOND;
// The most bytes of a connection before that request, and after it from one request to the next, where readers report
// by RTCP. gst-rtsp-server has no limit for headers, which take some 25 times as much memory as they have bytes.
static const guint64 newcomer_bytes = 64 << 10;
static const guint64 request_bytes = 1 << 20;
// The most connections of one address before that request, and the most wrong logins of one connection.
static const int newcomers_at_once = 32;
static const int most_refusals = 16;

// How long what was sent may wait for a reader that does not read, in milliseconds: then the system closes the
// connection.
static const unsigned unread_patience = 10000;

static const char known[] = "inlet-connection";
const char inlet_restream_held_reader[] = "inlet-reader";

// A connection. The server's mutex guards what its timer reads.
typedef struct {
    inlet_restream_server *server;
    char *address;
    // The connection's socket. Shut down, it has the connection's own thread close it: gst_rtsp_client_close is not
    // safe while that thread works on a request.
    int descriptor;
    gint64 since;          // guarded
    int is_allowed;        // guarded: whether a request was allowed
    guint64 bytes_before;  // guarded: what came before the last request
    int refusals;          // for the connection's thread alone
} connection;

static guint64 bytes_of(int descriptor) {
#ifdef __linux__
    struct tcp_info facts = {0};
    socklen_t size = sizeof facts;
    if (!getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &facts, &size)) return facts.tcpi_bytes_received;
#endif
    (void)descriptor;
    return 0;
}

static void shut(int descriptor) {
    if (descriptor >= 0) shutdown(descriptor, SHUT_RDWR);
}

// Counts a connection of an address that has no allowed request yet. Called with the mutex held.
static void count_newcomer(inlet_restream_server *server, const char *address, int change) {
    int count = GPOINTER_TO_INT(g_hash_table_lookup(server->newcomers, address)) + change;
    if (count > 0) {
        g_hash_table_replace(server->newcomers, g_strdup(address), GINT_TO_POINTER(count));
    } else {
        g_hash_table_remove(server->newcomers, address);
    }
}

static int may_connect(inlet_restream_server *server, GstRTSPContext *context) {
    const char *address = context->conn ? gst_rtsp_connection_get_ip(context->conn) : NULL;
    g_mutex_lock(&server->mutex);
    int count = address ? GPOINTER_TO_INT(g_hash_table_lookup(server->newcomers, address)) : 0;
    int may = server->connections < server->most && count < newcomers_at_once;
    g_mutex_unlock(&server->mutex);
    return may;
}

// Notes that a request has come, and whether it is allowed.
static void note_request(connection *client, int is_allowed) {
    guint64 bytes = bytes_of(client->descriptor);
    g_mutex_lock(&client->server->mutex);
    if (is_allowed && !client->is_allowed) {
        client->is_allowed = 1;
        client->since = g_get_monotonic_time();
        count_newcomer(client->server, client->address, -1);
    }
    if (client->is_allowed) client->bytes_before = bytes;
    g_mutex_unlock(&client->server->mutex);
}

// Who decides who may ask for what: on top of the Digest authentication of GstRTSPAuth, which camera.
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

// The camera that a path names: its first part. To be freed by g_free; NULL where there is none.
static char *camera_of(const GstRTSPUrl *url) {
    if (!url || !url->abspath || url->abspath[0] != '/') return NULL;
    size_t count = strcspn(url->abspath + 1, "/");
    return count > 0 && count < 64 ? g_strndup(url->abspath + 1, count) : NULL;
}

// Has the mount point of a camera be there, or not, as cameras come and go.
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

// Each refusal costs a nonce, which is kept for half a minute: a connection has only some.
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
    // What there is to ask is told to anybody: players ask for it before they log in.
    if (context->method == GST_RTSP_OPTIONS) {
        note_request(client, 0);
        return TRUE;
    }
    if (server->needs_user) {
        if (!context->token && !GST_RTSP_AUTH_GET_CLASS(gate)->authenticate(gate, context)) context->token = NULL;
        if (!context->token) return refuse_login(gate, context, client);
    }
    if (context->method == GST_RTSP_ANNOUNCE || context->method == GST_RTSP_RECORD) {
        return refuse(gate, context, GST_RTSP_STS_METHOD_NOT_ALLOWED);
    }
    const char *user = context->token ? gst_rtsp_token_get_string(context->token, "user") : NULL;
    char *camera = camera_of(context->uri);
    if (!camera) return refuse(gate, context, GST_RTSP_STS_NOT_FOUND);
    int status = server->handlers.permits(server->owner, user, camera);
    // That one user may not see a camera says nothing of others.
    mount(server, camera, server->handlers.permits(server->owner, NULL, camera) == inlet_restream_ok);
    g_free(camera);
    if (status != inlet_restream_ok) return refuse(gate, context, (GstRTSPStatusCode)status);
    note_request(client, 1);
    return TRUE;
}

static gboolean check(GstRTSPAuth *gate, GstRTSPContext *context, const gchar *what) {
    inlet_restream_server *server = ((InletGate *)gate)->server;
    if (g_str_equal(what, GST_RTSP_AUTH_CHECK_CONNECT)) return may_connect(server, context);
    if (g_str_equal(what, GST_RTSP_AUTH_CHECK_URL)) return check_request(gate, context);
    // Nobody chooses another destination than the own address.
    if (g_str_equal(what, GST_RTSP_AUTH_CHECK_TRANSPORT_CLIENT_SETTINGS)) return FALSE;
    return TRUE;
}

static void inlet_gate_init(InletGate *gate) { gate->server = NULL; }

static void inlet_gate_class_init(InletGateClass *class) { GST_RTSP_AUTH_CLASS(class)->check = check; }

GstRTSPAuth *inlet_restream_gate_new(void) { return g_object_new(inlet_gate_get_type(), NULL); }

void inlet_restream_gate_serve(GstRTSPAuth *gate, inlet_restream_server *server) {
    ((InletGate *)gate)->server = server;
}

// Opens the camera before its media is made, as a media that is not made has one status for all reasons, and is made
// with a lock held. Only the path of a camera itself finds it.
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

// What was asked for twice was opened twice, and taken once.
static void after_describe(GstRTSPClient *client, GstRTSPContext *context, gpointer server) {
    (void)context;
    (void)server;
    g_object_set_data(G_OBJECT(client), inlet_restream_held_reader, NULL);
}

static void closed(GstRTSPClient *client, gpointer server) {
    (void)server;
    g_object_set_data(G_OBJECT(client), inlet_restream_held_reader, NULL);
}

// Called when the connection's client is no more.
static void connection_free(gpointer pointer) {
    connection *client = pointer;
    inlet_restream_server *server = client->server;
    if (client->descriptor >= 0) close(client->descriptor);
    g_mutex_lock(&server->mutex);
    if (!client->is_allowed) count_newcomer(server, client->address, -1);
    server->connections--;
    g_cond_broadcast(&server->changed);
    g_mutex_unlock(&server->mutex);
    g_free(client->address);
    g_free(client);
}

// RTSP within HTTP is two connections, whose limits would be those of one: there is none.
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
    state->address = g_strdup(address ? address : "");
    state->descriptor = socket ? dup(g_socket_get_fd(socket)) : -1;
    state->since = g_get_monotonic_time();
#ifdef TCP_USER_TIMEOUT
    setsockopt(state->descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unread_patience, sizeof unread_patience);
#endif
    g_mutex_lock(&own->mutex);
    own->connections++;
    count_newcomer(own, state->address, 1);
    g_mutex_unlock(&own->mutex);
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

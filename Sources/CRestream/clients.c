#include "restream.h"

#ifdef INLET_RESTREAM

// How long a connection may be without a session, in microseconds: one that sends nothing, half a request, or asks what
// there is and takes nothing.
static const gint64 patience = 30 * G_TIME_SPAN_SECOND;

static const char connected_at[] = "inlet-connected-at";
static const char opened[] = "inlet-reader";

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
    g_mutex_lock(&server->mutex);
    GstRTSPMediaFactory *factory = gst_rtsp_mount_points_match(server->mounts, path, NULL);
    if (is_there && !factory) {
        gst_rtsp_mount_points_add_factory(server->mounts, path, inlet_restream_factory_new(server, camera));
    } else if (!is_there && factory) {
        gst_rtsp_mount_points_remove_factory(server->mounts, path);
    }
    g_mutex_unlock(&server->mutex);
    g_clear_object(&factory);
    g_free(path);
}

static gboolean check_request(GstRTSPAuth *gate, GstRTSPContext *context) {
    inlet_restream_server *server = ((InletGate *)gate)->server;
    // What there is to ask is told to anybody: players ask for it before they log in.
    if (context->method == GST_RTSP_OPTIONS) return TRUE;
    if (server->needs_user) {
        if (!context->token && !GST_RTSP_AUTH_GET_CLASS(gate)->authenticate(gate, context)) context->token = NULL;
        if (!context->token) return refuse(gate, context, GST_RTSP_STS_UNAUTHORIZED);
    }
    const char *user = context->token ? gst_rtsp_token_get_string(context->token, "user") : NULL;
    char *camera = camera_of(context->uri);
    if (!camera) return refuse(gate, context, GST_RTSP_STS_NOT_FOUND);
    int status = server->handlers.permits(server->owner, user, camera);
    // That one user may not see a camera says nothing of others.
    if (status == GST_RTSP_STS_OK || !user) mount(server, camera, status == GST_RTSP_STS_OK);
    g_free(camera);
    return status == GST_RTSP_STS_OK || refuse(gate, context, (GstRTSPStatusCode)status);
}

static gboolean check(GstRTSPAuth *gate, GstRTSPContext *context, const gchar *what) {
    inlet_restream_server *server = ((InletGate *)gate)->server;
    if (g_str_equal(what, GST_RTSP_AUTH_CHECK_CONNECT)) return g_atomic_int_get(&server->connections) < server->most;
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

// Opens the camera before its media is made, as a media that is not made has one status for all reasons.
static GstRTSPStatusCode before_describe(GstRTSPClient *client, GstRTSPContext *context, gpointer server) {
    char *camera = camera_of(context->uri);
    int status = GST_RTSP_STS_NOT_FOUND;
    inlet_restream_reader *reader = camera ? inlet_restream_reader_new(server, client, camera, &status) : NULL;
    g_free(camera);
    if (!reader) return (GstRTSPStatusCode)status;
    g_object_set_data_full(G_OBJECT(client), opened, reader, inlet_restream_reader_free);
    return GST_RTSP_STS_OK;
}

// What was asked for twice was opened twice, and taken once.
static void after_describe(GstRTSPClient *client, GstRTSPContext *context, gpointer server) {
    (void)context;
    (void)server;
    g_object_set_data(G_OBJECT(client), opened, NULL);
}

static void closed(GstRTSPClient *client, gpointer server) {
    g_object_set_data(G_OBJECT(client), opened, NULL);
    g_atomic_int_add(&((inlet_restream_server *)server)->connections, -1);
}

void inlet_restream_client_connected(GstRTSPServer *object, GstRTSPClient *client, gpointer server) {
    (void)object;
    g_atomic_int_inc(&((inlet_restream_server *)server)->connections);
    gint64 *now = g_new(gint64, 1);
    *now = g_get_monotonic_time();
    g_object_set_data_full(G_OBJECT(client), connected_at, now, g_free);
    g_signal_connect(client, "closed", G_CALLBACK(closed), server);
    g_signal_connect(client, "pre-describe-request", G_CALLBACK(before_describe), server);
    g_signal_connect(client, "describe-request", G_CALLBACK(after_describe), server);
}

static GstRTSPFilterResult look_at(GstRTSPServer *object, GstRTSPClient *client, gpointer server) {
    (void)object;
    (void)server;
    const gint64 *since = g_object_get_data(G_OBJECT(client), connected_at);
    if (!since || g_get_monotonic_time() - *since < patience) return GST_RTSP_FILTER_KEEP;
    GList *sessions = gst_rtsp_client_session_filter(client, NULL, NULL);
    int has_session = sessions != NULL;
    g_list_free_full(sessions, g_object_unref);
    return has_session ? GST_RTSP_FILTER_KEEP : GST_RTSP_FILTER_REMOVE;
}

gboolean inlet_restream_look_at_clients(gpointer server) {
    inlet_restream_server *own = server;
    gst_rtsp_server_client_filter(own->server, look_at, server);
    GstRTSPSessionPool *sessions = gst_rtsp_server_get_session_pool(own->server);
    gst_rtsp_session_pool_cleanup(sessions);
    g_object_unref(sessions);
    return G_SOURCE_CONTINUE;
}
#endif

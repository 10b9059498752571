#include "restream.h"

#ifdef INLET_RESTREAM
#include <sys/socket.h>
#include <unistd.h>

// The maximum number of bytes that wait for a reader's connection in its pipeline.
static const guint64 most_bytes = 8 << 20;
// A pipeline's time begins this long before it is made, so that earlier packets have a time, too.
static const guint64 head_start = 3600 * GST_SECOND;

// Distributes a camera to readers: each gets its own pipeline, so that it begins with a key frame, and does not wait
// for others.
typedef struct {
    GstRTSPMediaFactory parent;
    char *camera;
} InletFactory;
typedef struct {
    GstRTSPMediaFactoryClass parent;
} InletFactoryClass;
GType inlet_factory_get_type(void);
G_DEFINE_TYPE(InletFactory, inlet_factory, GST_TYPE_RTSP_MEDIA_FACTORY)

inlet_restream_reader *inlet_restream_reader_new(
    inlet_restream_server *server, int descriptor, const char *user, const char *camera, int *status) {
    inlet_restream_reader *reader = g_new0(inlet_restream_reader, 1);
    reader->server = server;
    reader->camera = g_strdup(camera);
    reader->descriptor = dup(descriptor);
    g_mutex_init(&reader->mutex);
    g_cond_init(&reader->changed);
    GstClockTime now = (GstClockTime)g_get_monotonic_time() * GST_USECOND;
    reader->base = now > head_start ? now - head_start : 0;
    g_mutex_lock(&server->mutex);
    server->readers++;
    g_mutex_unlock(&server->mutex);
    inlet_restream_format format = {NULL, NULL};
    *status = server->handlers.open(server->owner, user, camera, reader, &format, &reader->stream);
    reader->caps = format.caps;
    reader->payloader = format.payloader;
    if (*status == inlet_restream_ok) return reader;
    inlet_restream_reader_free(reader);
    return NULL;
}

void inlet_restream_reader_free(gpointer pointer) {
    inlet_restream_reader *reader = pointer;
    inlet_restream_server *server = reader->server;
    if (reader->stream) server->handlers.close(reader->stream);
    g_clear_object(&reader->source);
    if (reader->descriptor >= 0) close(reader->descriptor);
    g_cond_clear(&reader->changed);
    g_mutex_clear(&reader->mutex);
    free(reader->caps);
    free(reader->payloader);
    g_free(reader->camera);
    g_free(reader);
    g_mutex_lock(&server->mutex);
    server->readers--;
    g_cond_broadcast(&server->changed);
    g_mutex_unlock(&server->mutex);
}

// The pipeline of the reader that was opened for this client. A client that has requested no description, or that of
// another camera, has no reader: opening takes time, and a lock is held here.
static GstElement *create_element(GstRTSPMediaFactory *factory, const GstRTSPUrl *url) {
    (void)url;
    InletFactory *own = (InletFactory *)factory;
    GstRTSPContext *context = gst_rtsp_context_get_current();
    if (!context || !context->client) return NULL;
    inlet_restream_reader *reader = g_object_steal_data(G_OBJECT(context->client), inlet_restream_held_reader);
    if (!reader) return NULL;
    if (strcmp(reader->camera, own->camera) != 0) {
        inlet_restream_reader_free(reader);
        return NULL;
    }
    char *text = g_strconcat("appsrc name=source ! ", reader->payloader, NULL);
    GstElement *bin = gst_parse_bin_from_description(text, FALSE, NULL);
    g_free(text);
    GstElement *source = bin ? gst_bin_get_by_name(GST_BIN(bin), "source") : NULL;
    GstCaps *caps = source ? gst_caps_from_string(reader->caps) : NULL;
    if (!caps) {
        g_clear_object(&source);
        if (bin) gst_object_unref(bin);
        inlet_restream_reader_free(reader);
        return NULL;
    }
    g_object_set(source, "caps", caps, "format", GST_FORMAT_TIME, "is-live", TRUE, "max-bytes", most_bytes, NULL);
    gst_caps_unref(caps);
    g_mutex_lock(&reader->mutex);
    reader->source = source;
    g_cond_broadcast(&reader->changed);
    g_mutex_unlock(&reader->mutex);
    g_object_set_data_full(G_OBJECT(bin), inlet_restream_held_reader, reader, inlet_restream_reader_free);
    return bin;
}

// A pipeline that runs by the machine's monotonic clock, from a time before any packet, so that each packet has its
// true time, and RTCP's sender reports state its capture time.
static GstElement *create_pipeline(GstRTSPMediaFactory *factory, GstRTSPMedia *media) {
    (void)factory;
    GstElement *element = gst_rtsp_media_get_element(media);
    const inlet_restream_reader *reader = g_object_get_data(G_OBJECT(element), inlet_restream_held_reader);
    GstElement *pipeline = gst_pipeline_new("inlet-reader");
    GstClock *clock = gst_system_clock_obtain();
    gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
    gst_element_set_start_time(pipeline, GST_CLOCK_TIME_NONE);
    gst_element_set_base_time(pipeline, reader->base);
    gst_object_unref(clock);
    gst_object_unref(element);
    gst_rtsp_media_take_pipeline(media, GST_PIPELINE(pipeline));
    return pipeline;
}

static void finalize(GObject *object) {
    g_free(((InletFactory *)object)->camera);
    G_OBJECT_CLASS(inlet_factory_parent_class)->finalize(object);
}

static void inlet_factory_init(InletFactory *factory) { factory->camera = NULL; }

static void inlet_factory_class_init(InletFactoryClass *class) {
    G_OBJECT_CLASS(class)->finalize = finalize;
    GST_RTSP_MEDIA_FACTORY_CLASS(class)->create_element = create_element;
    GST_RTSP_MEDIA_FACTORY_CLASS(class)->create_pipeline = create_pipeline;
}

GstRTSPMediaFactory *inlet_restream_factory_new(const char *camera) {
    InletFactory *factory = g_object_new(inlet_factory_get_type(), NULL);
    factory->camera = g_strdup(camera);
    gst_rtsp_media_factory_set_protocols(
        GST_RTSP_MEDIA_FACTORY(factory), GST_RTSP_LOWER_TRANS_TCP | GST_RTSP_LOWER_TRANS_UDP);
    return GST_RTSP_MEDIA_FACTORY(factory);
}

// More than a tick of RTP's 90 kHz: a reader treats pictures with one timestamp as one picture, and shows it broken.
static const GstClockTime least_step = 12 * GST_USECOND;

int inlet_restream_push(inlet_restream_reader *reader, const void *bytes, size_t count, inlet_restream_times times,
    int is_key, void *owner, void (*release)(void *)) {
    GstBuffer *packet
        = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, (gpointer)bytes, count, 0, count, owner, release);
    g_mutex_lock(&reader->mutex);
    while (!reader->source && !reader->has_left) g_cond_wait(&reader->changed, &reader->mutex);
    GstElement *source = reader->has_left ? NULL : gst_object_ref(reader->source);
    g_mutex_unlock(&reader->mutex);
    int is_taken = 0;
    if (source && gst_app_src_get_current_level_bytes(GST_APP_SRC(source)) + count <= most_bytes) {
        const GstClockTime shown = times.shown > reader->base ? times.shown - reader->base : 0;
        const GstClockTime decoded = times.decoded > reader->base ? times.decoded - reader->base : 0;
        // Pictures that arrive at once have times close together. A picture with a far earlier time is from a restarted
        // capture, with its own times.
        const GstClockTime late = reader->next > decoded ? reader->next - decoded : 0;
        const GstClockTime shift = late < GST_SECOND ? late : 0;
        GST_BUFFER_PTS(packet) = shown + shift;
        reader->next = decoded + shift + least_step;
        if (!is_key) GST_BUFFER_FLAG_SET(packet, GST_BUFFER_FLAG_DELTA_UNIT);
        is_taken = gst_app_src_push_buffer(GST_APP_SRC(source), packet) == GST_FLOW_OK;
        packet = NULL;
    }
    if (packet) gst_buffer_unref(packet);
    if (source) gst_object_unref(source);
    return is_taken;
}

void inlet_restream_leave(inlet_restream_reader *reader) {
    g_mutex_lock(&reader->mutex);
    reader->has_left = 1;
    g_cond_broadcast(&reader->changed);
    g_mutex_unlock(&reader->mutex);
}

void inlet_restream_end(inlet_restream_reader *reader) {
    g_mutex_lock(&reader->mutex);
    int has_left = reader->has_left;
    g_mutex_unlock(&reader->mutex);
    if (!has_left && reader->descriptor >= 0) shutdown(reader->descriptor, SHUT_RDWR);
}
#endif

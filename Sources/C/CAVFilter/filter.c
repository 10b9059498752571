#include "CAVFilter.h"
#include <dlfcn.h>
#include <errno.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/mem.h>
#include <pthread.h>
#include <stddef.h>

#define FUNCTIONS(X)                                                                               \
    X(avfilter_get_by_name) X(avfilter_graph_alloc) X(avfilter_graph_free)                         \
    X(avfilter_graph_alloc_filter) X(avfilter_init_str) X(avfilter_graph_parse_ptr)                \
    X(avfilter_graph_config) X(avfilter_inout_alloc) X(avfilter_inout_free)                        \
    X(av_buffersrc_parameters_alloc) X(av_buffersrc_parameters_set) X(av_buffersrc_add_frame_flags) \
    X(av_buffersink_get_frame)

#define DECLARE(name) static __typeof__(name) *p_##name;
FUNCTIONS(DECLARE)

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load(void) {
    void *library = dlopen("libavfilter.so." TEXT(LIBAVFILTER_VERSION_MAJOR), RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
#define FIND(name)                                                \
    p_##name = (__typeof__(p_##name))dlsym(library, #name);       \
    if (!p_##name) return;
    FUNCTIONS(FIND)
    is_loaded = true;
}

bool inlet_avfilter_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}

bool inlet_avfilter_has(const char *name) { return p_avfilter_get_by_name(name) != NULL; }

struct inlet_filter {
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
};

static AVFilterContext *add(AVFilterGraph *graph, const char *kind, const char *name) {
    const AVFilter *filter = p_avfilter_get_by_name(kind);
    return filter ? p_avfilter_graph_alloc_filter(graph, filter, name) : NULL;
}

static int set_up_source(AVFilterContext *source, const AVFrame *first) {
    AVBufferSrcParameters *parameters = p_av_buffersrc_parameters_alloc();
    if (!parameters) return AVERROR(ENOMEM);
    parameters->format = first->format;
    parameters->width = first->width;
    parameters->height = first->height;
    parameters->sample_aspect_ratio = first->sample_aspect_ratio;
    // Pictures are numbered.
    parameters->time_base = (AVRational){ 1, 1 };
#if LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 16, 100)
    parameters->color_space = first->colorspace;
    parameters->color_range = first->color_range;
#endif
    int code = p_av_buffersrc_parameters_set(source, parameters);
    av_free(parameters);
    return code < 0 ? code : p_avfilter_init_str(source, NULL);
}

static int connect_filters(struct inlet_filter *filter, const char *filters) {
    AVFilterInOut *outputs = p_avfilter_inout_alloc(), *inputs = p_avfilter_inout_alloc();
    int code = AVERROR(ENOMEM);
    if (outputs && inputs) {
        *outputs = (AVFilterInOut){ .name = av_strdup("in"), .filter_ctx = filter->source };
        *inputs = (AVFilterInOut){ .name = av_strdup("out"), .filter_ctx = filter->sink };
        if (outputs->name && inputs->name)
            code = p_avfilter_graph_parse_ptr(filter->graph, filters, &inputs, &outputs, NULL);
    }
    p_avfilter_inout_free(&outputs);
    p_avfilter_inout_free(&inputs);
    return code < 0 ? code : p_avfilter_graph_config(filter->graph, NULL);
}

int inlet_filter_open(struct inlet_filter **result, const char *filters, const void *first) {
    struct inlet_filter *filter = av_mallocz(sizeof *filter);
    if (!filter) return AVERROR(ENOMEM);
    int code = AVERROR(ENOMEM);
    filter->graph = p_avfilter_graph_alloc();
    if (filter->graph) {
        filter->graph->nb_threads = 1;
        filter->source = add(filter->graph, "buffer", "in");
        filter->sink = add(filter->graph, "buffersink", "out");
    }
    if (filter->source && filter->sink) {
        code = set_up_source(filter->source, first);
        if (code >= 0) code = p_avfilter_init_str(filter->sink, NULL);
        if (code >= 0) code = connect_filters(filter, filters);
    }
    if (code < 0) {
        inlet_filter_close(filter);
        return code;
    }
    *result = filter;
    return 0;
}

int inlet_filter_send(struct inlet_filter *filter, void *frame) {
    int code = p_av_buffersrc_add_frame_flags(filter->source, frame, frame ? AV_BUFFERSRC_FLAG_KEEP_REF : 0);
    return code < 0 ? code : 0;
}

int inlet_filter_receive(struct inlet_filter *filter, void *frame) {
    int code = p_av_buffersink_get_frame(filter->sink, frame);
    return code < 0 ? code : 0;
}

void inlet_filter_close(struct inlet_filter *filter) {
    if (!filter) return;
    p_avfilter_graph_free(&filter->graph);
    av_free(filter);
}

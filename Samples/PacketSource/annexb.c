/*
 * annexb: a source for Inlet that yields the packets of an H.264 file (Annex B of ITU-T H.264) unchanged. Inlet
 * decodes them if a sink needs pictures.
 *
 *   make && INLET_PLUGIN_PATH=. inlet run 'annexb:?file=clip.h264&rate=25' --to null:
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inlet_plugin.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file in memory. It is unmapped when the last packet has been released. */
struct file {
    atomic_int users;
    size_t length;
    const uint8_t *bytes;
};

struct inlet_source {
    const inlet_source_host *host;
    struct file *file;
    size_t position;
    uint64_t count;
    int64_t start; /* due time of the first packet */
    inlet_rational rate;
    int repeats;
    uint32_t key_frames; /* requests handled so far */
    char path[4096];
};

static const inlet_host *inlet;

static inlet_result fail(inlet_error *error, inlet_result result, const char *what, const char *reason) {
    snprintf(error->message, sizeof error->message, "%.280s: %.200s", what, reason);
    return result;
}

static void release_file(void *data) {
    struct file *file = data;
    if (!file || atomic_fetch_sub(&file->users, 1) > 1) return;
    munmap((void *)file->bytes, file->length);
    free(file);
}

/* Returns the position of the next start code 00 00 01, or the end of the file. */
static size_t start_code(const struct file *file, size_t from) {
    const void *found = from < file->length ? memmem(file->bytes + from, file->length - from, "\0\0\1", 3) : NULL;
    return found ? (size_t)((const uint8_t *)found - file->bytes) : file->length;
}

/* Returns nal_unit_type (7.4.1) of the unit after a start code, or 0 if the file ends there. */
static unsigned kind(const struct file *file, size_t unit) {
    return unit + 5 < file->length ? file->bytes[unit + 3] & 31 : 0;
}

/* Whether a unit after a slice belongs to the next picture: 7.4.1.2.3, without redundant and unordered slices. */
static int begins_picture(const struct file *file, size_t unit) {
    unsigned type = kind(file, unit);
    if (type == 1 || type == 5) return file->bytes[unit + 4] >> 7; /* first_mb_in_slice is 0 */
    return (type >= 6 && type <= 9) || (type >= 14 && type <= 18);
}

/* Whether the first slice of a picture is a B slice: first_mb_in_slice is the bit 1, slice_type is 010 or 00111. */
static int is_b_slice(const struct file *file, size_t unit) {
    if (kind(file, unit) != 1) return 0;
    uint8_t bits = file->bytes[unit + 4];
    return (bits & 0xf0) == 0xa0 || (bits & 0xfc) == 0x9c;
}

static inlet_result annexb_create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    inlet_source *new = calloc(1, sizeof *new);
    if (!new) return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, "annexb", "Cannot allocate memory for the source.");
    *new = (inlet_source){.host = host, .rate = {25, 1}};
    const char *path = configuration->address;
    for (uint32_t i = 0; i < configuration->option_count; i++) {
        const inlet_option *option = &configuration->options[i];
        if (!strcmp(option->name, "file") && *option->value) path = option->value;
        if (!strcmp(option->name, "rate")) sscanf(option->value, "%d/%d", &new->rate.numerator, &new->rate.denominator);
        if (!strcmp(option->name, "repeat")) new->repeats = !strcmp(option->value, "true");
    }
    snprintf(new->path, sizeof new->path, "%s", path);
    *source = new;
    return INLET_OK;
}

static inlet_result annexb_open(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline; /* Opening a file does not wait. */
    int descriptor = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts;
    if (descriptor < 0 || fstat(descriptor, &facts) < 0) {
        error->native_code = errno;
        inlet_result result = errno == ENOENT ? INLET_ERROR_NOT_FOUND
            : errno == EACCES ? INLET_ERROR_PERMISSION_DENIED : INLET_ERROR_INPUT_OUTPUT;
        return fail(error, result, source->path, strerror(errno));
    }
    size_t length = S_ISREG(facts.st_mode) ? (size_t)facts.st_size : 0;
    void *bytes = length ? mmap(NULL, length, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    close(descriptor);
    if (bytes == MAP_FAILED) {
        return fail(
            error, INLET_ERROR_MALFORMED_DATA, source->path, "The file is empty, or is not a regular file.");
    }
    source->file = calloc(1, sizeof *source->file);
    if (!source->file) {
        munmap(bytes, length);
        return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, source->path, "Cannot allocate memory.");
    }
    *source->file = (struct file){1, length, bytes};

    /* The parameter sets are the units before the first slice. */
    size_t first = start_code(source->file, 0), unit = first;
    int has_set = 0;
    while (unit < length && kind(source->file, unit) != 1 && kind(source->file, unit) != 5) {
        has_set |= kind(source->file, unit) == 7;
        unit = start_code(source->file, unit + 3);
    }
    if (!has_set || unit == length) {
        return fail(
            error, INLET_ERROR_MALFORMED_DATA, source->path,
            "The file does not start with H.264 parameter sets and a picture in Annex B form. Create such a file "
            "with ffmpeg -i INPUT -c:v libx264 -bf 0 -f h264 OUTPUT.");
    }
    strcpy(stream->codec, "h264");
    stream->pacing = INLET_PACING_REALTIME;
    stream->time_base = (inlet_rational){source->rate.denominator, source->rate.numerator};
    stream->frame_rate = source->rate;
    stream->parameter_sets = source->file->bytes + first;
    stream->parameter_sets_length = unit - first;
    source->position = 0;
    source->start = inlet->now();
    return INLET_OK;
}

/* If a key frame was requested and the file repeats, continues with the next IDR picture or the beginning. */
static void heed_requests(inlet_source *source) {
    const struct file *file = source->file;
    inlet_demand demand = {.size = sizeof demand};
    source->host->get_demand(source->host->context, &demand);
    if (!source->repeats || demand.key_frame_requests == source->key_frames) return;
    source->key_frames = demand.key_frame_requests;
    size_t unit = source->position;
    while (unit < file->length && kind(file, unit) != 5) unit = start_code(file, unit + 3);
    source->position = unit < file->length ? unit : 0;
}

static inlet_result annexb_next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    struct file *file = source->file;
    if (start_code(file, source->position) == file->length) {
        if (!source->repeats) return INLET_END;
        source->position = 0;
    }
    int64_t due = source->start
        + (int64_t)((double)source->count * 1e9 * source->rate.denominator / source->rate.numerator);
    for (;;) {
        int64_t now = inlet->now(), until = due < deadline ? due : deadline;
        struct pollfd wake = {.fd = source->host->wake_fd, .events = POLLIN};
        int64_t left = until > now ? (until - now) / 1000000 + 1 : 0;
        if (poll(&wake, 1, left > 1000 ? 1000 : (int)left) > 0)
            return fail(error, INLET_ERROR_CANCELLED, "annexb", "The source was cancelled.");
        if (inlet->now() >= due) break;
        if (inlet->now() >= deadline) return INLET_AGAIN;
    }

    heed_requests(source);
    size_t begin = source->position, end = start_code(file, begin);
    int has_slice = 0;
    for (; end < file->length; end = start_code(file, end + 3)) {
        if (has_slice && begins_picture(file, end)) break;
        unsigned type = kind(file, end);
        if (!has_slice && is_b_slice(file, end)) {
            return fail(
                error, INLET_ERROR_UNSUPPORTED, source->path,
                "The file has B-frames, but this format has no times for them. Encode it without B-frames (-bf 0).");
        }
        has_slice |= type == 1 || type == 5;
        if (type == 5) item->flags |= INLET_FLAG_KEY;
    }
    /* A start code of four bytes begins one byte earlier. */
    if (end < file->length && file->bytes[end - 1] == 0) end--;
    source->position = end;
    item->is_packet = 1;
    item->sequence = source->count;
    item->pts = item->packet.dts = (int64_t)source->count++;
    item->duration = 1;
    item->packet.data = file->bytes + begin;
    item->packet.length = end - begin;
    atomic_fetch_add(&file->users, 1);
    item->release = release_file;
    item->release_data = file;
    return INLET_OK;
}

static void annexb_close(inlet_source *source) {
    release_file(source->file);
    source->file = NULL;
}

static void annexb_destroy(inlet_source *source) { free(source); }

static const inlet_source_interface annexb = {
    .size = sizeof annexb, .create = annexb_create, .open = annexb_open, .next = annexb_next, .close = annexb_close,
    .destroy = annexb_destroy,
};

static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)error;
    inlet = host;
    return INLET_OK;
}

static void deinit(void) {}

static const void *get_interface(const char *id) { return strcmp(id, INLET_SOURCE_ID) ? NULL : &annexb; }

const inlet_plugin inlet_plugin_entry = {
    .size = sizeof(inlet_plugin), .magic = INLET_PLUGIN_MAGIC, .major = INLET_PLUGIN_MAJOR, .minor_needed = 0,
    .init = init, .deinit = deinit, .get_interface = get_interface,
};

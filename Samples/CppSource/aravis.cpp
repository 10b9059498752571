/*
 * aravis: a source for Inlet in C++ that reads GigE Vision and USB3 Vision cameras with the library Aravis.
 *
 *   make && INLET_PLUGIN_PATH=. inlet run 'aravis:192.168.0.10?size=1280x720&rate=30' --to null:
 */
#include <arv.h>
#include <inlet_plugin.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>

namespace {

const inlet_host *inlet;

struct Unref {
    void operator()(void *object) const { g_object_unref(object); }
};
template <typename Object> using Owned = std::unique_ptr<Object, Unref>;

// A result with its message.
struct Failure {
    inlet_result result = INLET_OK;
    std::string message;
    int code = 0;

    inlet_result tell(inlet_error *error) const {
        error->native_code = code;
        std::snprintf(error->message, sizeof error->message, "%s", message.c_str());
        return result;
    }
};

// Takes ownership of a GError. The message begins with the failed action.
Failure failure(const std::string &what, GError *error) {
    if (!error) return {INLET_ERROR_INPUT_OUTPUT, what + " failed. Check the camera and its cable.", 0};
    Failure made{INLET_ERROR_INPUT_OUTPUT, what + ": " + error->message + ".", error->code};
    if (error->domain == ARV_DEVICE_ERROR) {
        switch (error->code) {
        case ARV_DEVICE_ERROR_NOT_FOUND:
            made.result = INLET_ERROR_NOT_FOUND;
            made.message += " Run arv-tool-0.8 to list reachable cameras.";
            break;
        case ARV_DEVICE_ERROR_NOT_CONTROLLER:
            made.result = INLET_ERROR_BUSY;
            made.message += " Stop the other program that controls the camera.";
            break;
        case ARV_DEVICE_ERROR_TIMEOUT: made.result = INLET_ERROR_TIMED_OUT; break;
        case ARV_DEVICE_ERROR_NOT_CONNECTED: made.result = INLET_ERROR_DISCONNECTED; break;
        case ARV_DEVICE_ERROR_INVALID_PARAMETER: made.result = INLET_ERROR_INVALID_CONFIGURATION; break;
        default: break;
        }
    }
    g_error_free(error);
    return made;
}

struct Format {
    ArvPixelFormat camera;
    const char *name;
    int bytes; // per pixel
};
const Format formats[] = {
    {ARV_PIXEL_FORMAT_MONO_8, "gray", 1},
    {ARV_PIXEL_FORMAT_MONO_16, "gray16le", 2},
    {ARV_PIXEL_FORMAT_RGB_8_PACKED, "rgb24", 3},
    {ARV_PIXEL_FORMAT_BGR_8_PACKED, "bgr24", 3},
    {ARV_PIXEL_FORMAT_YUV_422_PACKED, "uyvy422", 2},
    {ARV_PIXEL_FORMAT_YUV_422_YUYV_PACKED, "yuyv422", 2},
    {ARV_PIXEL_FORMAT_BAYER_RG_8, "bayer_rggb8", 1},
    {ARV_PIXEL_FORMAT_BAYER_BG_8, "bayer_bggr8", 1},
    {ARV_PIXEL_FORMAT_BAYER_GR_8, "bayer_grbg8", 1},
    {ARV_PIXEL_FORMAT_BAYER_GB_8, "bayer_gbrg8", 1},
};

const Format *known(ArvPixelFormat camera) {
    auto found = std::find_if(std::begin(formats), std::end(formats), [=](auto &one) { return one.camera == camera; });
    return found == std::end(formats) ? nullptr : found;
}

// A streaming camera. Buffers lent to Inlet keep it alive, and return to its stream while that is open.
struct Camera {
    Owned<ArvCamera> device;
    Owned<ArvStream> stream;
    std::mutex mutex; // guards `stream` once it runs
    std::atomic<bool> isLost{false};
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    std::string format;
    int width = 0, height = 0;
    double rate = 0;

    ~Camera() {
        stop();
        ::close(event);
    }

    void signal() {
        const uint64_t one = 1;
        if (write(event, &one, sizeof one) < 0) return; // The event is readable already.
    }

    void stop() {
        Owned<ArvStream> old;
        {
            std::lock_guard<std::mutex> lock(mutex);
            old.swap(stream);
        }
        if (!old) return;
        arv_stream_set_emit_signals(old.get(), FALSE);
        g_signal_handlers_disconnect_by_data(old.get(), this);
        g_signal_handlers_disconnect_by_data(arv_camera_get_device(device.get()), this);
        if (!isLost) arv_camera_stop_acquisition(device.get(), nullptr);
    }

    void giveBack(ArvBuffer *buffer) {
        std::lock_guard<std::mutex> lock(mutex);
        if (stream) arv_stream_push_buffer(stream.get(), buffer);
        else g_object_unref(buffer);
    }

    // Finds, configures and starts the camera. Blocks for as long as the network takes.
    Failure start(const std::string &name, const std::string &wanted, int wide, int high, double fps) {
        GError *error = nullptr;
        const std::string title = name.empty() ? "The first camera" : "The camera '" + name + "'";
        device.reset(arv_camera_new(name.empty() ? nullptr : name.c_str(), &error));
        if (!device) return failure(title, error);
        auto choice = std::find_if(
            std::begin(formats), std::end(formats), [&](auto &one) { return one.name == wanted; });
        if (choice != std::end(formats)) arv_camera_set_pixel_format(device.get(), choice->camera, &error);
        if (!error && wide > 0) arv_camera_set_region(device.get(), 0, 0, wide, high, &error);
        if (!error && fps > 0) arv_camera_set_frame_rate(device.get(), fps, &error);
        if (error) {
            auto refused = failure(title + " rejects the requested size, rate or format", error);
            refused.result = INLET_ERROR_UNSUPPORTED;
            return refused;
        }
        const Format *current = known(arv_camera_get_pixel_format(device.get(), &error));
        if (!error) arv_camera_get_region(device.get(), nullptr, nullptr, &width, &height, &error);
        if (!error) rate = arv_camera_get_frame_rate(device.get(), nullptr);
        const guint payload = error ? 0 : arv_camera_get_payload(device.get(), &error);
        if (error) return failure(title, error);
        if (!current) {
            return {INLET_ERROR_UNSUPPORTED, title + " is set to an unsupported pixel format. Set `format`."};
        }
        format = current->name;
        stream.reset(arv_camera_create_stream(device.get(), nullptr, nullptr, &error));
        if (!stream) return failure(title, error);
        for (int i = 0; i < 16; i++) arv_stream_push_buffer(stream.get(), arv_buffer_new(payload, nullptr));
        g_signal_connect_swapped(stream.get(), "new-buffer", G_CALLBACK(+[](Camera *self) { self->signal(); }), this);
        g_signal_connect_swapped(
            arv_camera_get_device(device.get()), "control-lost", G_CALLBACK(+[](Camera *self) {
                self->isLost = true;
                self->signal();
            }), this);
        arv_stream_set_emit_signals(stream.get(), TRUE);
        arv_camera_start_acquisition(device.get(), &error);
        return error ? failure(title, error) : Failure{};
    }
};

struct Loan {
    std::shared_ptr<Camera> camera;
    ArvBuffer *buffer;
};

void release(void *data) {
    std::unique_ptr<Loan> loan(static_cast<Loan *>(data));
    loan->camera->giveBack(loan->buffer);
}

int64_t realTimeAhead() { return g_get_real_time() * 1000 - inlet->now(); }

} // namespace

struct inlet_source {
    const inlet_source_host *host;
    std::string address, format;
    int width = 0, height = 0;
    double rate = 0;
    std::shared_ptr<Camera> camera;
    uint64_t sequence = 0, last = 0;
    int64_t offset = 0, firstTick = INLET_NO_TIME, lastTick = INLET_NO_TIME, lastArrival = 0;
    uint64_t underruns = 0, damaged = 0;
    bool isInterrupted = false;

    // Waits until a descriptor is readable. Then returns INLET_OK.
    inlet_result wait(int descriptor, int64_t deadline) const {
        pollfd both[2] = {{host->wake_fd, POLLIN, 0}, {descriptor, POLLIN, 0}};
        const int64_t left = std::clamp<int64_t>((deadline - inlet->now()) / 1000000 + 1, 0, 1000);
        poll(both, 2, inlet->now() >= deadline ? 0 : static_cast<int>(left));
        if (both[0].revents) return INLET_ERROR_CANCELLED;
        return both[1].revents ? INLET_OK : INLET_AGAIN;
    }

    void interrupt(const char *reason) {
        if (!isInterrupted) host->begin_interruption(host->context, reason);
        isInterrupted = true;
    }

    // Lends a buffer to Inlet and describes it in the item.
    inlet_result yield(ArvBuffer *buffer, inlet_item *item, inlet_error *error) {
        auto loan = std::make_unique<Loan>(Loan{camera, buffer});
        const Format *form = known(arv_buffer_get_image_pixel_format(buffer));
        int padding = 0;
        arv_buffer_get_image_padding(buffer, &padding, nullptr);
        size_t length = 0;
        const void *data = arv_buffer_get_image_data(buffer, &length);
        const int wide = arv_buffer_get_image_width(buffer), high = arv_buffer_get_image_height(buffer);
        const size_t stride = form ? static_cast<size_t>(wide) * form->bytes + static_cast<size_t>(padding) : 0;
        const size_t needed = stride * static_cast<size_t>(high);
        if (!form || !data || wide <= 0 || high <= 0 || padding < 0 || needed > length) {
            release(loan.release());
            return Failure{INLET_ERROR_MALFORMED_DATA, "The camera sent a picture with an invalid size or format. "
                                                       "Restart the camera.", 0}.tell(error);
        }
        // A gap in the camera's numbers is a loss, except for losses counted already. 16-bit numbers wrap.
        const uint64_t id = arv_buffer_get_frame_id(buffer);
        if (last != 0 && id > last && id - last < 10000) sequence += id - last - 1 - std::min(damaged, id - last - 1);
        last = id, damaged = 0;
        // The smallest observed delay between the camera's clock and the arrival is taken as zero delay.
        const int64_t arrival = static_cast<int64_t>(arv_buffer_get_system_timestamp(buffer)) - realTimeAhead();
        const int64_t tick = static_cast<int64_t>(arv_buffer_get_timestamp(buffer));
        if (firstTick == INLET_NO_TIME || tick <= lastTick || std::abs(arrival - tick - offset) > 1000000000) {
            if (firstTick != INLET_NO_TIME) item->flags |= INLET_FLAG_DISCONTINUITY;
            firstTick = tick;
            offset = arrival - tick;
        }
        // Two clocks drift apart by up to 100 ppm.
        if (lastTick != INLET_NO_TIME && tick > lastTick) offset += (tick - lastTick) / 10000;
        offset = std::min(offset, arrival - tick);
        lastTick = tick;

        item->sequence = sequence++;
        item->pts = tick - firstTick;
        item->capture_time = tick + offset;
        item->wall_clock = item->capture_time + realTimeAhead();
        item->picture.width = static_cast<uint32_t>(wide);
        item->picture.height = static_cast<uint32_t>(high);
        std::strcpy(item->picture.pixel_format, form->name);
        item->picture.plane_count = 1;
        auto bytes = static_cast<uint8_t *>(const_cast<void *>(data));
        item->picture.planes[0] = {bytes, length, 0, static_cast<int64_t>(stride)};
        item->release = release;
        item->release_data = loan.release();
        return INLET_OK;
    }
};

namespace {

inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    auto made = new (std::nothrow) inlet_source;
    if (!made) return Failure{INLET_ERROR_RESOURCE_EXHAUSTED, "Cannot allocate memory for the source.", 0}.tell(error);
    made->host = host;
    made->address = configuration->address;
    for (uint32_t i = 0; i < configuration->option_count; i++) {
        const std::string name = configuration->options[i].name;
        const char *value = configuration->options[i].value;
        int numerator = 0, denominator = 1;
        if (name == "format") made->format = value;
        if (name == "size") std::sscanf(value, "%dx%d", &made->width, &made->height);
        if (name == "rate" && std::sscanf(value, "%d/%d", &numerator, &denominator) > 0 && denominator > 0)
            made->rate = static_cast<double>(numerator) / denominator;
    }
    *source = made;
    return INLET_OK;
}

// Aravis cannot be cancelled, so a separate thread finds the camera. It is abandoned if Inlet stops waiting.
struct Opening {
    std::shared_ptr<Camera> camera = std::make_shared<Camera>();
    int done = eventfd(0, EFD_CLOEXEC);
    Failure failure;
    ~Opening() { ::close(done); }
};

inlet_result open(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    auto opening = std::make_shared<Opening>();
    std::thread([=, address = source->address, format = source->format, width = source->width,
                 height = source->height, rate = source->rate] {
        opening->failure = opening->camera->start(address, format, width, height, rate);
        const uint64_t one = 1;
        if (write(opening->done, &one, sizeof one) < 0) std::abort();
    }).detach();
    inlet_result result;
    while ((result = source->wait(opening->done, deadline)) == INLET_AGAIN && inlet->now() < deadline) {}
    if (result == INLET_ERROR_CANCELLED) return Failure{result, "The source was cancelled.", 0}.tell(error);
    if (result == INLET_AGAIN)
        return Failure{INLET_ERROR_TIMED_OUT, "The camera does not answer. Check the address.", 0}.tell(error);
    if (opening->failure.result != INLET_OK) return opening->failure.tell(error);
    source->camera = opening->camera;
    stream->pacing = INLET_PACING_LIVE;
    stream->width = static_cast<uint32_t>(source->camera->width);
    stream->height = static_cast<uint32_t>(source->camera->height);
    std::strcpy(stream->pixel_format, source->camera->format.c_str());
    stream->time_base = {1, 1000000000};
    if (source->camera->rate > 0) stream->frame_rate = {static_cast<int32_t>(source->camera->rate * 1000 + 0.5), 1000};
    source->lastArrival = inlet->now();
    return INLET_OK;
}

inlet_result next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    const inlet_source_host *host = source->host;
    Camera &camera = *source->camera;
    for (;;) {
        uint64_t count = 0;
        if (read(camera.event, &count, sizeof count) < 0) count = 0; // Reset before the queue is read.
        while (ArvBuffer *buffer = arv_stream_try_pop_buffer(camera.stream.get())) {
            host->report_progress(host->context);
            if (arv_buffer_get_status(buffer) == ARV_BUFFER_STATUS_SUCCESS) {
                if (source->isInterrupted) host->end_interruption(host->context);
                source->isInterrupted = false;
                source->lastArrival = inlet->now();
                return source->yield(buffer, item, error);
            }
            host->count_drop(host->context, "damaged", 1);
            source->damaged++;
            camera.giveBack(buffer);
        }
        if (camera.isLost) {
            source->interrupt("control of the camera was lost");
            return Failure{INLET_ERROR_DISCONNECTED, "The camera has stopped answering, or another program has taken "
                                                     "control of it. Check its cable.", 0}.tell(error);
        }
        if (inlet->now() - source->lastArrival > 2000000000) source->interrupt("no pictures arrive from the camera");
        const inlet_result result = source->wait(camera.event, deadline);
        if (result == INLET_ERROR_CANCELLED) return Failure{result, "The source was cancelled.", 0}.tell(error);
        if (result == INLET_AGAIN && inlet->now() >= deadline) return INLET_AGAIN;
    }
}

// Stopping a camera that is gone takes seconds. A thread does it, because Inlet does not wait that long.
void close(inlet_source *source) {
    if (!source->camera) return;
    auto opening = std::make_shared<Opening>();
    opening->camera = std::move(source->camera);
    std::thread([opening] {
        opening->camera->stop();
        const uint64_t one = 1;
        if (write(opening->done, &one, sizeof one) < 0) std::abort();
    }).detach();
    pollfd done = {opening->done, POLLIN, 0};
    poll(&done, 1, 800);
}

void destroy(inlet_source *source) { delete source; }

const inlet_source_interface aravis = {
    sizeof aravis, 0, create, open, next, nullptr, nullptr, close, destroy};

inlet_result init(const inlet_host *host, inlet_error *) {
    inlet = host;
    return INLET_OK;
}

void deinit() {}

const void *getInterface(const char *id) { return std::strcmp(id, INLET_SOURCE_ID) ? nullptr : &aravis; }

} // namespace

extern "C" const inlet_plugin inlet_plugin_entry = {
    sizeof(inlet_plugin), INLET_PLUGIN_MAGIC, INLET_PLUGIN_MAJOR, 0, 0, init, deinit, getInterface};

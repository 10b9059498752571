import CBare
import Inlet

/// Measures the time to convert each pixel format to I420 in this project, in libyuv and in libswscale, and the time to
/// copy the picture.
///
/// Prints one JSON object per format, with medians in microseconds: of pictures in the processor's caches, and of
/// pictures outside them. `Scripts/bench --convert` runs it and shows the figures. Arguments: WIDTHxHEIGHT, and the
/// formats; without formats, all of them.
@main struct ConvertBenchmark {
    static func main() {
        var arguments = CommandLine.arguments.dropFirst()
        let size = arguments.popFirst().flatMap(ImageSize.init(optionText:)) ?? ImageSize(width: 1280, height: 720)
        let wanted = Set(arguments)
        var index: Int32 = 0
        while let name = unsafe bare_format_name(index).map({ unsafe String(cString: $0) }) {
            index += 1
            if wanted.isEmpty || wanted.contains(name), let picture = Picture(name, size) { picture.measure() }
        }
    }
}

/// A picture of one format, and memory for the results.
@safe private final class Picture {
    private let name: String
    private let native: UnsafeMutablePointer<bare_picture>
    private var target: bare_i420
    private let copy: UnsafeMutableRawPointer
    private let frame: SourceFrame
    private let converter = FrameConverter()
    private let pool = I420BufferPool(capacity: 2)

    init?(_ name: String, _ size: ImageSize) {
        guard let native = unsafe bare_picture_make(name, Int32(size.width), Int32(size.height)) else { return nil }
        self.name = name
        unsafe self.native = native
        unsafe target = bare_i420_make(Int32(size.width), Int32(size.height))
        unsafe copy = .allocate(byteCount: bare_picture_bytes(native), alignment: 64)
        var planes = SourcePlanes()
        let count = unsafe native.pointee.planes
        for plane in 0..<count {
            let memory = unsafe UnsafeRawBufferPointer(
                start: bare_plane(native, plane), count: bare_plane_bytes(native, plane))
            unsafe planes.append(SourcePlane(memory, stride: Int(bare_plane_stride(native, plane))))
        }
        frame = SourceFrame(
            pixelFormat: PixelFormat(name), size: size, planes: planes, owner: pool, pts: nil, sequence: 0,
            colorSpace: ColorSpace(range: .limited))
    }

    deinit {
        unsafe bare_picture_free(native)
        unsafe bare_i420_free(target)
        unsafe copy.deallocate()
    }

    func measure() {
        guard (try? converter.i420(from: frame, pool: pool)) != nil else { return }
        var ways: [(String, () -> Void)] = [
            ("inlet", { [converter, frame, pool] in _ = try? converter.i420(from: frame, pool: pool) })
        ]
        if unsafe bare_yuv_convert(native, &target) == 0 {
            ways.append(("libyuv", { _ = unsafe bare_yuv_convert(self.native, &self.target) }))
        }
        let context = unsafe bare_sws_make(native)
        defer { unsafe bare_sws_free(context) }
        if unsafe context != nil {
            ways.append(("swscale", { unsafe bare_sws_convert(context, self.native, &self.target) }))
        }
        ways.append(("memcpy", { unsafe bare_copy(self.native, self.copy) }))
        let fields = ways.map { way, body in
            let (hot, cold) = (median(of: 9, body), median(of: 5, prepare: { bare_evict() }, body))
            return "\"\(way)\":{\"hot_us\":\(hot),\"cold_us\":\(cold)}"
        }
        print("{\"format\":\"\(name)\",\(fields.joined(separator: ","))}")
    }

    /// Returns microseconds.
    private func median(of count: Int, prepare: () -> Void = {}, _ body: () -> Void) -> Double {
        for _ in 0..<2 { body() }
        let clock = ContinuousClock()
        let times = (0..<count).map { _ in
            prepare()
            return clock.measure(body)
        }
        return (times.sorted()[count / 2] / .nanoseconds(1) / 100).rounded() / 10
    }
}

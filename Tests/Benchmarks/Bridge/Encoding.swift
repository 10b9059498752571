import CBare
import Dispatch
import Inlet
import Synchronization

/// The time of an encoding sink for a picture, compared with plain libavcodec, on the same pictures in turn.
enum Encoding {
    private static let size = ImageSize(width: 1280, height: 720)
    private static let frames: UInt64 = 600

    /// The times of both, in nanoseconds.
    private final class Times: Sendable {
        let ours = Mutex<[UInt64]>([])
        let bare = Mutex<[UInt64]>([])
        let bytes = Atomic(0)
        let bareBytes = Atomic(0)
    }

    private final class CountingPacketSink: PacketSink {
        let times: Times
        init(_ times: Times) { self.times = times }
        func start(_ parameters: CodecParameters) {}
        func write(_ packet: EncodedPacket) { times.bytes.add(packet.data.count, ordering: .relaxed) }
    }

    /// Passes each picture to both; the order changes with each picture.
    @safe private final class Comparison: FrameSink {
        let times: Times
        let sink: EncodingSink
        private let bare: OpaquePointer
        private var count: Int64 = 0

        init?(_ times: Times) {
            guard let bare = unsafe bare_encoder_open(Int32(size.width), Int32(size.height), 30, 60) else { return nil }
            unsafe self.bare = bare
            self.times = times
            sink = EncodingSink(FFmpegVideoEncoder(), EncoderSettings(), to: CountingPacketSink(times))
        }

        deinit { unsafe bare_encoder_close(bare) }

        func start(_ format: VideoFormat, _ context: SinkContext) throws { try sink.start(format, context) }

        func consume(_ frame: VideoFrame) throws {
            count += 1
            if count.isMultiple(of: 2) { encodeBare(frame) }
            let start = DispatchTime.now().uptimeNanoseconds
            try sink.consume(frame)
            let time = DispatchTime.now().uptimeNanoseconds - start
            times.ours.withLock { $0.append(time) }
            if !count.isMultiple(of: 2) { encodeBare(frame) }
        }

        private func encodeBare(_ frame: VideoFrame) {
            let start = DispatchTime.now().uptimeNanoseconds
            let bytes = unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: 3) { planes in
                unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: 3) { strides in
                    for (index, plane) in I420Buffer.Plane.allCases.enumerated() {
                        unsafe planes[index] = frame.buffer.baseAddress(of: plane)
                        unsafe strides[index] = Int32(frame.buffer.strides[plane])
                    }
                    return unsafe bare_encode(bare, planes.baseAddress, strides.baseAddress, count * 3000)
                }
            }
            let time = DispatchTime.now().uptimeNanoseconds - start
            times.bare.withLock { $0.append(time) }
            times.bareBytes.add(Int(bytes), ordering: .relaxed)
        }

        func finish() throws { try sink.finish() }
    }

    static func measure() async throws {
        let times = Times()
        guard let comparison = Comparison(times) else { return }
        var configuration = CapturerConfiguration.quiet
        configuration.frameLimit = frames
        let source = try PluginRegistry.standard.source("pattern:ball?size=\(size)&fps=30")
        let capturer = Capturer(source, configuration: configuration)
        capturer.attach(comparison, named: "encoders", queue: .lossless(4))
        _ = try await capturer.run()
        let (ours, bare) = (times.ours.withLock { $0.sorted() }, times.bare.withLock { $0.sorted() })
        guard !ours.isEmpty, ours.count == bare.count else { return }
        func microseconds(_ list: [UInt64], _ part: Double) -> Double {
            Double(list[min(list.count - 1, Int(Double(list.count) * part))]) / 1000
        }
        report(
            "encoding 1280x720, realtime preset",
            [
                "frames": Double(ours.count), "inlet_p50_us": microseconds(ours, 0.5),
                "libavcodec_p50_us": microseconds(bare, 0.5), "inlet_p99_us": microseconds(ours, 0.99),
                "libavcodec_p99_us": microseconds(bare, 0.99),
                "inlet_bytes": Double(times.bytes.load(ordering: .relaxed)),
                "libavcodec_bytes": Double(times.bareBytes.load(ordering: .relaxed)),
            ])
    }
}

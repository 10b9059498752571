import InletCore
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import InletServe

/// HTTP Live Streaming of packets that end, or of which one cannot be written.
@Suite(.timeLimit(.minutes(2))) struct SegmentHubTests {
    /// A packet of a camera with 5 pictures a second and a key frame each second.
    private static func packet(_ number: Int, isBroken: Bool = false) -> EncodedPacket {
        let time = MediaTime(ticks: Int64(number) * 200_000_000, timeBase: Rational(1, 1_000_000_000))
        return EncodedPacket(
            data: PacketData([UInt8](repeating: 0, count: isBroken ? 1 : 100)), pts: time, dts: time,
            isKey: number % 5 == 0, captureTime: MonotonicTime(nanoseconds: time.ticks))
    }

    /// Makes a fragment of each packet, and fails at broken ones.
    private final class Sink: PacketSink {
        private let publish: (FragmentQueue.Piece) -> Void

        init(_ publish: @escaping (FragmentQueue.Piece) -> Void) { self.publish = publish }

        func start(_ parameters: CodecParameters) { publish(.beginning(ByteBuffer(string: "moov"))) }

        func write(_ packet: EncodedPacket) throws {
            guard packet.data.count > 1 else { throw InletError(.malformedData, "The packet is broken.") }
            let times = FragmentTimes(
                start: packet.captureTime, length: .milliseconds(200), wallClock: packet.captureTime.nanoseconds,
                isByCamera: true)
            publish(.fragment(ByteBuffer(repeating: 0, count: 100), isKey: packet.isKey, times))
        }
    }

    /// A client. Confined to the loop.
    private final class Viewer: PlaylistViewer {
        let result: EventLoopPromise<Result<String, InletError>>
        init(_ loop: any EventLoop) { result = loop.makePromise() }
        func take(playlist: Result<String, InletError>) { result.succeed(playlist) }
    }

    /// A stream on a loop, and the number of times it was begun.
    private final class Stream: Sendable {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let media = CameraMedia(camera: "door", RecordSettings())
        let begun = Mutex(0)
        let idle = Mutex(0)
        let end: EventLoopFuture<Void>
        private let ended: EventLoopPromise<Void>
        private let hub: NIOLoopBoundBox<SegmentHub?>

        init() {
            ended = loop.makePromise()
            end = ended.futureResult
            hub = .makeEmptyBox(eventLoop: loop)
            let parameters = CodecParameters(
                codec: .h264, size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 1000))
            media.hub.start(parameters)
        }

        func write(_ packets: Range<Int>) { for number in packets { media.hub.write(packet(number)) } }

        /// - Parameter onSink: called with the number of each beginning, on its thread.
        func begin(onSink: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
            try await loop.submit { [self] in
                let fragments = FragmentHub(
                    media, loop: loop,
                    makeSink: { publish in
                        let number = self.begun.withLock { count in
                            count += 1
                            return count
                        }
                        onSink(number)
                        return Sink(publish)
                    }, onIdle: { _ in self.idle.withLock { $0 += 1 } })
                hub.value = try SegmentHub(
                    { fragments }, loop: loop, idleLimit: .seconds(3600), retryDelay: .milliseconds(1)
                ) { [ended] _ in
                    ended.succeed()
                }
            }.get()
        }

        var playlist: String? {
            get async throws { try await loop.submit { self.hub.value?.playlist() }.get() }
        }

        var lastUse: MonotonicTime? {
            get async throws { try await loop.submit { self.hub.value?.lastUse }.get() }
        }

        /// The response to the first waiting client.
        var result: EventLoopFuture<Result<String, InletError>> {
            loop.flatSubmit { [self] in
                let viewer = Viewer(loop)
                hub.value?.add(viewer)
                return viewer.result.futureResult
            }
        }

        func forget() async throws { try await loop.submit { self.hub.value = nil }.get() }
    }

    @Test("A stream whose last packet cannot be written restarts a number of times, and ends")
    func broken() async throws {
        let stream = Stream()
        stream.write(0..<12)
        stream.media.hub.write(Self.packet(12, isBroken: true))
        try await stream.begin()
        try await stream.end.get()
        #expect(stream.begun.withLock { $0 } == 1 + SegmentHub.mostRetries)
    }

    @Test("A stream continues after a packet that cannot be written, and no segment is listed twice")
    func goesOn() async throws {
        let stream = Stream()
        stream.write(0..<1)
        try await stream.begin { number in
            switch number {
            case 1:
                stream.write(1..<13)
                stream.media.hub.write(Self.packet(13, isBroken: true))
            case 4: stream.write(14..<26)
            case 5: stream.write(26..<36)
            default: break
            }
        }
        var times: [Substring] = []
        for _ in 0..<10_000 where times.count < 5 {
            try await Task.sleep(for: .milliseconds(2))
            times = (try await stream.playlist ?? "").split(separator: "\n").filter {
                $0.hasPrefix("#EXT-X-PROGRAM-DATE-TIME")
            }
        }
        #expect(times.map { $0.suffix(7) } == ["00.000Z", "01.000Z", "02.000Z", "05.000Z", "06.000Z"])
        #expect(stream.begun.withLock { $0 } == 5)
        await stream.media.hub.end()
        try await stream.end.get()
    }

    @Test("The stream of a camera that is slow to begin is in use from its first playlist on")
    func slowToBegin() async throws {
        let stream = Stream()
        try await stream.begin()
        let result = stream.result
        let began = try #require(try await stream.lastUse)
        stream.write(0..<12)
        guard case .success = try await result.get() else {
            Issue.record("There is no playlist.")
            return
        }
        #expect(try #require(try await stream.lastUse) > began)
        await stream.media.hub.end()
        try await stream.end.get()
    }

    @Test("A waiting client is notified that the camera was removed, and the camera's packets are released")
    func removed() async throws {
        weak var media: CameraMedia?
        do {
            let stream = Stream()
            media = stream.media
            stream.write(0..<3)
            try await stream.begin()
            let result = stream.result
            await stream.media.hub.end()
            guard case .failure(let error) = try await result.get() else {
                Issue.record("There is a playlist.")
                return
            }
            #expect(error.code == .notFound)
            try await stream.end.get()
            try await stream.forget()
            #expect(stream.idle.withLock { $0 } == 1)
            var count = 0
            stream.media.hub.attach { items in
                count += items.count
                return PacketJob(items)
            }
            #expect(count == 0)
        }
        for _ in 0..<10_000 where media != nil { try await Task.sleep(for: .milliseconds(2)) }
        #expect(media == nil)
    }
}

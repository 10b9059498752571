import InjectSource
import InletCore
import Synchronization
import Testing

struct FrameInjectorTests {
    private static let size = ImageSize(width: 17, height: 9)

    private func code(_ body: () throws -> Void) -> InletError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? InletError)?.code
        }
    }

    @Test("A plane that is one byte too short is refused at the push", arguments: [PixelFormat.yuv420p, .nv12, .bgra])
    func shortFrames(format: PixelFormat) throws {
        let planes = RawPicture.planes(format, Self.size)
        let picture = RawPicture([UInt8](repeating: 1, count: planes.reduce(0) { $0 + $1.byteCount }))
        let injector = try FrameInjector()
        #expect(try injector.push(picture.frame(format, Self.size, planes: planes)) == .queued)
        for index in planes.indices {
            var short = planes
            short[index].byteCount -= 1
            #expect(code { try injector.push(picture.frame(format, Self.size, planes: short)) } == .malformedData)
            let borrowed = picture.frame(format, Self.size, planes: short).planes
            #expect(
                code { try injector.push(copying: borrowed, pixelFormat: format, size: Self.size) } == .malformedData)
        }
        #expect(
            code { try injector.push(picture.frame(format, Self.size, planes: planes.dropLast())) } == .malformedData)
        #expect(injector.statistics.refused == UInt64(2 * planes.count + 1))
        #expect(injector.statistics.pushed == 1)
    }

    @Test("Too few bytes for size and stride are refused", arguments: [PixelFormat.yuv420p, .nv12, .bgra])
    func shortBytes(format: PixelFormat) throws {
        let count = RawPicture.planes(format, Self.size).reduce(0) { $0 + $1.byteCount }
        let injector = try FrameInjector()
        for missing in [count, count / 2, 1] {
            let bytes = [UInt8](repeating: 1, count: count - missing)
            #expect(
                code { try injector.push(copying: bytes.span, pixelFormat: format, size: Self.size) }
                    == .malformedData)
        }
        let bytes = [UInt8](repeating: 1, count: count)
        let outcome = try injector.push(copying: bytes.span, pixelFormat: format, size: Self.size)
        #expect(outcome == .queued)
        #expect(injector.statistics.copied == 1)
    }

    @Test("Impossible strides, sizes and formats are refused")
    func impossible() throws {
        let picture = RawPicture([UInt8](repeating: 1, count: 4096))
        let injector = try FrameInjector()
        for stride in [0, 16, Int.max, Int.min, -17] {
            let planes = [(0, stride, 153), (153, 9, 45), (198, 9, 45)]
            #expect(code { try injector.push(picture.frame(.yuv420p, Self.size, planes: planes)) } == .malformedData)
        }
        for size in [(0, 4), (4, -1), (40_000, 1), (Int.max, Int.max)] {
            let size = ImageSize(width: size.0, height: size.1)
            let bytes: [UInt8] = [1, 2, 3]
            #expect(
                code { try injector.push(picture.frame(.bgra, size, planes: [(0, 4, 4096)])) } == .invalidConfiguration)
            #expect(
                code { try injector.push(copying: bytes.span, pixelFormat: .bgra, size: size) }
                    == .invalidConfiguration)
        }
        for format in ["vaapi", "no-such-format"] {
            let frame = picture.frame(PixelFormat(format), Self.size, planes: [(0, 64, 4096)])
            #expect(code { try injector.push(frame) } == .unsupported)
        }
        #expect(injector.statistics.pushed == 0)
    }

    @Test("Pictures and packets have separate injectors")
    func kinds() throws {
        let parameters = CodecParameters(codec: .h264, size: Self.size, timeBase: Rational(1, 1000))
        let packet = SourcePacket(parameters: parameters, data: PacketData([1]), pts: nil, dts: nil, flags: .key)
        let packets = try FrameInjector(InjectorConfiguration(packets: PacketStream(parameters)))
        let picture = try I420Draft(size: Self.size).publish()
        #expect(code { try packets.push(picture) } == .invalidConfiguration)
        #expect(code { try FrameInjector().push(packet) } == .invalidConfiguration)
        #expect(try packets.push(packet) == .queued)
        var other = packet
        other.parameters.codec = .vp8
        #expect(code { try packets.push(other) } == .formatChanged)
        other = packet
        other.data = PacketData([])
        #expect(code { try packets.push(other) } == .malformedData)
    }

    @Test("An impossible configuration is refused")
    func configurations() {
        let stream = PacketStream(
            CodecParameters(codec: .h264, size: Self.size, timeBase: Rational(1, 1000)))
        func refused(_ change: (inout InjectorConfiguration) -> Void) -> Bool {
            var configuration = InjectorConfiguration()
            change(&configuration)
            return code { _ = try FrameInjector(configuration) } == .invalidConfiguration
        }
        #expect(refused { $0.queue = .bounded(0) })
        #expect(refused { $0.maximumBytes = 0 })
        #expect(refused { $0.copies = 0 })
        #expect(refused { $0.timeBase = Rational(0) })
        #expect(refused { $0.size = ImageSize(width: 0, height: 1) })
        #expect(refused { $0.frameRate = Rational(-1) })
        #expect(refused { $0.repeatAfter = .zero })
        #expect(refused { $0 = InjectorConfiguration(packets: stream, queue: .latest) })
        #expect(!refused { _ in })
    }

    @Test("One picture with more bytes than the queue may hold is refused")
    func tooLarge() throws {
        var configuration = InjectorConfiguration()
        configuration.maximumBytes = 100
        let injector = try FrameInjector(configuration)
        #expect(code { try injector.push(try I420Draft(size: Self.size).publish()) } == .resourceExhausted)
    }

    @Test("The owner of a replaced picture is released at the push, where the injector can be called again")
    func releasesOutsideTheLock() throws {
        let injector = try FrameInjector()
        let released = Atomic(0)
        func push(_ number: Int) throws {
            let size = Self.size
            let picture = RawPicture(
                [UInt8](repeating: 1, count: size.packedI420ByteCount),
                // Weak, because the injector keeps the last picture.
                onRelease: { [weak injector] in
                    // A lock that is held would never become free.
                    if let injector, injector.statistics.pushed > 0 { released.add(1, ordering: .relaxed) }
                })
            try injector.push(picture.frame(.yuv420p, size, pts: .milliseconds(number)))
        }
        for number in 0..<10 { try push(number) }
        #expect(released.load(ordering: .relaxed) == 9)
    }

    @Test("Copies are bounded: with all in use a picture is dropped and counted")
    func copies() throws {
        var configuration = InjectorConfiguration(queue: .bounded(100))
        configuration.copies = 3
        let injector = try FrameInjector(configuration)
        let bytes = [UInt8](repeating: 1, count: Self.size.packedI420ByteCount)
        var outcomes: [InjectorOutcome] = []
        for _ in 0..<5 {
            outcomes.append(try injector.push(copying: bytes.span, pixelFormat: .yuv420p, size: Self.size))
        }
        #expect(outcomes == [.queued, .queued, .queued, .dropped(.poolExhausted), .dropped(.poolExhausted)])
        #expect(injector.statistics.dropped == [.poolExhausted: 2])
    }

    @Test("The best size keeps the aspect ratio within the wanted size")
    func sizes() throws {
        let injector = try FrameInjector()
        let picture = ImageSize(width: 1920, height: 1080)
        #expect(injector.wants.size(for: picture) == picture)
        injector.adapt(maximumSize: ImageSize(width: 640, height: 640))
        #expect(injector.wants.size(for: picture) == ImageSize(width: 640, height: 360))
        #expect(injector.wants.size(for: picture.transposed) == ImageSize(width: 360, height: 640))
        #expect(injector.wants.size(for: ImageSize(width: 64, height: 64)) == ImageSize(width: 64, height: 64))
        injector.adapt(maximumSize: ImageSize(width: 1, height: 1), maximumFrameRate: Rational(5))
        #expect(injector.wants.size(for: picture) == ImageSize(width: 2, height: 2))
        #expect(injector.wants.demand.maximumFrameRate == Rational(5))
    }

    @Test("Names of a directory are letters, digits, dots, dashes and underscores, each once")
    func directory() throws {
        var directory = InjectorDirectory()
        let injector = try FrameInjector()
        try directory.add(injector, as: "screen-1")
        for name in ["", "a b", "ä", "a/b", "screen-1", String(repeating: "x", count: 65)] {
            #expect(code { try directory.add(injector, as: name) } == .invalidConfiguration, "\(name)")
        }
        var registry = PluginRegistry()
        registry.register(SourcePlugin.inject(directory))
        let configuration = try #require(try registry.source("inject:screen-1") as? InjectedSourceConfiguration)
        #expect(configuration.injector === injector)
        #expect("\(configuration)" == "inject:screen-1")
        #expect(code { _ = try registry.source("inject:screen-2") } == .notFound)
        #expect(code { _ = try registry.source("inject:") } == .notFound)
        #expect(code { _ = try registry.source("inject:screen-1?size=1x1") } == .invalidConfiguration)
        do {
            _ = try registry.source("inject:scren-1")
        } catch let error as InletError {
            #expect(error.message.contains("Did you mean 'screen-1'?"))
        }
    }
}

import InletCore
import InletTesting
import Synchronization
import Testing

/// For each rule of the suite there is a source that breaks only this rule.
struct SourceConformanceTests {
    /// Returns the rules that a scripted source with these frames breaks.
    private func broken(
        _ steps: [ScriptedSource.Step], opening: [ScriptedSource.Step] = [], callLimit: Duration = .seconds(20)
    ) async -> Set<String> {
        var suite = SourceConformance()
        suite.callLimit = callLimit
        let script = ScriptedSource.Script(opening: opening, steps)
        return Set(await suite.check(ScriptedSourceConfiguration(script)).map(\.rule))
    }

    private static func frame(_ pts: Int64?, sequence: UInt64? = nil, flags: FrameFlags = []) -> ScriptedSource.Step {
        .frame(ScriptedFrame(pts: pts, sequence: sequence, flags: flags))
    }

    @Test("a source that does not open, or has no frame, is found")
    func opening() async {
        #expect(await broken([], opening: [.fail(InletError(.notFound, "no"))]) == ["opens"])
        #expect(await broken([.end]) == ["frames"])
        #expect(await broken([Self.frame(0), .fail(InletError(.malformedData, "no"))]).contains("frames"))
    }

    @Test("wrong sequence numbers and times are found")
    func order() async {
        #expect(await broken([Self.frame(0, sequence: 1)]).contains("sequence"))
        #expect(await broken([Self.frame(0), Self.frame(1, sequence: 0)]) == ["sequence"])
        #expect(await broken([Self.frame(5), Self.frame(4)]) == ["pts"])
        #expect(await broken([Self.frame(5), Self.frame(4, flags: .discontinuity)]) == [])
        #expect(await broken([Self.frame(5), Self.frame(5), Self.frame(nil), Self.frame(6)]) == [])
        #expect(await broken([.frame(ScriptedFrame(pts: 0, duration: -1))]) == ["duration"])
    }

    private func brokenByPackets(_ packets: [ScriptedPacket]) async -> [Violation] {
        var format = ScriptedSource.format()
        format.hasPackets = true
        let steps: [ScriptedSource.Step] = packets.map { .packet($0) } + .frames(1)
        return await SourceConformance.check(
            ScriptedSourceConfiguration(ScriptedSource.Script(format: format, steps)))
    }

    @Test("wrong packets are found if packets are wanted, and unwanted packets always")
    func packets() async {
        let good = [
            ScriptedPacket(pts: 2, dts: 0), ScriptedPacket(pts: 1, flags: []), ScriptedPacket(pts: 3, flags: []),
        ]
        #expect(await brokenByPackets(good) == [])
        #expect(await brokenByPackets([]).map(\.rule) == ["packets"])
        #expect(await brokenByPackets([ScriptedPacket(pts: 0, flags: [])]).map(\.rule) == ["packets"])
        #expect(await brokenByPackets([ScriptedPacket(pts: 0, dts: 1)]).map(\.rule) == ["dts"])
        let backwards = [ScriptedPacket(pts: 5), ScriptedPacket(pts: 4, flags: [])]
        #expect(await brokenByPackets(backwards).map(\.rule) == ["dts"])
        let anew = [ScriptedPacket(pts: 5), ScriptedPacket(pts: 0, flags: [.key, .discontinuity])]
        #expect(await brokenByPackets(anew) == [])
        #expect(await SourceConformance.check(Faulty(fault: .packetsUnasked)).map(\.rule).contains("demand"))
    }

    @Test("a source that ignores a cancellation is found, before its opening and in mid-stream")
    func cancellation() async {
        let deaf: [ScriptedSource.Step] = [.ignoreCancellation(.milliseconds(300))]
        #expect(await broken(.frames(20), opening: deaf) == ["cancellation"])
        #expect(await broken(.frames(1) + deaf + [Self.frame(1)]) == ["cancellation"])
        let wrong = ScriptedSource.Step.fail(InletError(.disconnected, "no"))
        #expect(await broken([Self.frame(0), wrong]).isSuperset(of: ["frames", "cancellation"]))
    }

    @Test("a hanging source is found and not waited for")
    func hanging() async {
        // No other call reaches this limit, even on a busy machine.
        let hang = ScriptedSource.Step.ignoreCancellation(.seconds(60))
        #expect(await broken([Self.frame(0), hang], callLimit: .seconds(5)) == ["progress"])
        #expect(await broken(.frames(1), opening: [hang], callLimit: .seconds(5)) == ["opens"])
    }

    /// A source whose faults are enabled by name.
    struct Faulty: FrameSourceConfiguration {
        enum Fault {
            case none, shortPlane, missingPlane, otherTimeBase, badFormat, untypedError, changesWhenClosed
            case keepsSource, keepsMemory, sharesCount, refusesSecond, differs, packetsUnasked
            case sizeUnknown, liveSizeUnknown, compressedSizeUnknown
        }
        final class Shared: Sendable {
            let counter = Atomic<UInt64>(0)
            let running = Atomic<Int>(0)
            let held = Mutex<[any AnyObject & Sendable]>([])
            let sources = Mutex<[UncheckedBox]>([])
        }
        /// `@unchecked Sendable`: its content is never read.
        final class UncheckedBox: @unchecked Sendable {
            let object: AnyObject
            init(_ object: AnyObject) { self.object = object }
        }
        /// The owner of a gray 16x16 picture.
        @safe final class Block: Sendable {
            // Written only by `changesWhenClosed`, which is the fault.
            nonisolated(unsafe) let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 64)
            init(_ value: UInt8) { unsafe memory.initializeMemory(as: UInt8.self, repeating: value) }
            deinit { unsafe memory.deallocate() }
        }

        let fault: Fault
        let shared = Shared()
        let redactedURI = "faulty:"

        func makeSource() -> any FrameSource {
            let source = Source(fault, shared)
            if fault == .keepsSource { shared.sources.withLock { $0.append(UncheckedBox(source)) } }
            return source
        }

        final class Source: FrameSource {
            let fault: Fault
            let shared: Shared
            var number: UInt64 = 0
            var last: Block?

            init(_ fault: Fault, _ shared: Shared) {
                self.fault = fault
                self.shared = shared
            }

            func open(_ context: SourceContext) throws -> SourceFormat {
                let others = shared.running.add(1, ordering: .relaxed).oldValue
                if fault == .refusesSecond, others > 0 { throw InletError(.busy, "no") }
                let isUnknown = [.sizeUnknown, .liveSizeUnknown, .compressedSizeUnknown].contains(fault)
                var format = SourceFormat(
                    size: isUnknown ? ImageSize(width: 0, height: 0) : ImageSize(width: 16, height: 16),
                    pixelFormat: .gray, timeBase: fault == .badFormat ? Rational(0) : Rational(1, 10),
                    pacing: [.liveSizeUnknown, .compressedSizeUnknown].contains(fault) ? .live : .unpaced)
                if fault == .compressedSizeUnknown { format.codec = "mjpeg" }
                return format
            }

            func next(_ context: SourceContext) throws -> SourceItem? {
                if fault == .untypedError { throw CancellationError() }
                if fault == .packetsUnasked {
                    let time = MediaTime(ticks: 0, timeBase: Rational(1, 10))
                    let parameters = CodecParameters(
                        codec: .h264, size: ImageSize(width: 16, height: 16), timeBase: time.timeBase)
                    return .packet(
                        SourcePacket(parameters: parameters, data: PacketData([1]), pts: time, dts: time, flags: .key))
                }
                if fault == .sharesCount { number = shared.counter.add(1, ordering: .relaxed).oldValue }
                let shade = fault == .differs ? shared.counter.add(1, ordering: .relaxed).oldValue : 7
                let block = Block(UInt8(truncatingIfNeeded: shade))
                last = block
                if fault == .keepsMemory { shared.held.withLock { $0.append(block) } }
                var planes = SourcePlanes()
                let memory = unsafe UnsafeRawBufferPointer(block.memory)
                if fault != .missingPlane {
                    let count = fault == .shortPlane ? 255 : 256
                    unsafe planes.append(
                        SourcePlane(UnsafeRawBufferPointer(rebasing: memory[..<count]), stride: 16))
                }
                defer { number += 1 }
                return .frame(
                    SourceFrame(
                        pixelFormat: .gray, size: ImageSize(width: 16, height: 16), planes: planes, owner: block,
                        pts: MediaTime(ticks: Int64(number), timeBase: Rational(1, fault == .otherTimeBase ? 20 : 10)),
                        sequence: number))
            }

            func close() {
                shared.running.subtract(1, ordering: .relaxed)
                if fault == .changesWhenClosed, let last { unsafe last.memory[100] ^= 1 }
                last = nil
            }
        }
    }

    @Test(
        "each fault of a source is found and reported by its rule",
        arguments: [
            (Faulty.Fault.none, []), (.shortPlane, ["planes"]), (.missingPlane, ["planes"]),
            (.otherTimeBase, ["timeBase"]), (.badFormat, ["format"]), (.untypedError, ["frames", "typedErrors"]),
            (.changesWhenClosed, ["ownership"]), (.keepsSource, ["release"]), (.keepsMemory, ["release"]),
            (.refusesSecond, ["independence"]), (.differs, ["determinism"]), (.sizeUnknown, ["format"]),
            (.liveSizeUnknown, ["format"]), (.compressedSizeUnknown, []),
        ] as [(Faulty.Fault, [String])])
    func faults(fault: Faulty.Fault, rules: [String]) async {
        var suite = SourceConformance()
        suite.isDeterministic = true
        let violations = await suite.check(Faulty(fault: fault))
        #expect(Set(violations.map(\.rule)) == Set(rules), "\(violations)")
        #expect(violations.allSatisfy { !$0.explanation.isEmpty })
    }

    @Test("sources that share their count of frames are found")
    func sharedCount() async {
        let rules = Set(await SourceConformance.check(Faulty(fault: .sharesCount)).map(\.rule))
        #expect(rules.isSuperset(of: ["independence"]))
    }

    @Test("a device that allows only one source passes if the suite permits that")
    func exclusiveDevice() async {
        var suite = SourceConformance()
        suite.allowsTwoAtOnce = false
        #expect(await suite.check(Faulty(fault: .refusesSecond)) == [])
    }
}

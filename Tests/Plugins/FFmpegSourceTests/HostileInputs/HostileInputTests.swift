import FFmpegSource
import Foundation
import InletCapture
import InletCore
import InletDecode
import InletFFmpeg
import InletTesting
import Logging
import RTSPSource
import ReferenceTools
import Synchronization
import Testing

/// Damaged inputs through the source in this process: `INLET_INPUTS=100000 Scripts/test --sanitize --filter
/// HostileInputTests` runs that many under AddressSanitizer; `INLET_SEED=n` begins with another seed.
@Suite(.tags(.server), .serialized, .blocking) struct HostileInputTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test("Damaged SDP, RTP, playlists and transport streams give frames or an error, and do not grow memory")
    func inputs() throws {
        let count = Self.number("INLET_INPUTS") ?? 600
        let first = Self.number("INLET_SEED") ?? 1
        let server = try MutatingServer(MutationMaterial())
        defer { server.stop() }
        let tally = Mutex<[String: Int]>([:])
        // Separate threads: they mostly wait, and a queue has no more threads than there are cores.
        func run(_ seeds: Range<Int>) {
            let group = DispatchGroup()
            let next = Atomic(seeds.lowerBound)
            for _ in 0..<Self.workers {
                group.enter()
                Thread {
                    while true {
                        let seed = next.add(1, ordering: .relaxed).oldValue
                        guard seed < seeds.upperBound else { break }
                        let kind = MutatingServer.Kind.allCases[seed % MutatingServer.Kind.allCases.count]
                        if Self.number("INLET_TELL") != nil {
                            FileHandle.standardError.write(Data("seed \(seed) \(kind)\n".utf8))
                        }
                        let outcome = Self.open(kind, seed, server.port)
                        tally.withLock { $0[outcome, default: 0] += 1 }
                    }
                    group.leave()
                }.start()
            }
            group.wait()
        }
        // The first tenth shows the memory that libraries keep permanently.
        run(first..<first + count / 10)
        let settled = Self.memory
        run(first + count / 10..<first + count)
        let outcomes = tally.withLock { $0 }
        print(
            "\(count) inputs: \(outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
        )
        // Both good and bad ends must occur; otherwise the inputs are not built correctly.
        #expect(outcomes["frames", default: 0] > 0 && outcomes.count > 2, "\(outcomes)")
        #expect(outcomes["internal"] == nil && outcomes["pluginRejected"] == nil, "\(outcomes)")
        // A source ends by its own time limits, which are far shorter than that of the bridge.
        let endless = outcomes.keys.filter { $0.hasPrefix("endless") }
        #expect(endless.isEmpty)
        #expect(Self.memory - settled < 96 << 20, "grew by \((Self.memory - settled) >> 20) MB")
    }

    private static let workers = number("INLET_WORKERS") ?? 8

    private static func source(_ kind: MutatingServer.Kind, _ address: String) -> any FrameSource {
        let (connecting, reading) = (Duration.seconds(1), Duration.milliseconds(500))
        guard kind == .sdp || kind == .rtp else {
            var configuration = FFmpegNetworkConfiguration(url: "http://\(address)")
            (configuration.connectTimeout, configuration.firstTimeout) = (connecting, reading)
            configuration.readTimeout = reading
            configuration.pace = .live
            return configuration.makeSource()
        }
        var configuration = RTSPConfiguration(url: "rtsp://\(address)")
        (configuration.connectTimeout, configuration.firstTimeout) = (connecting, reading)
        configuration.readTimeout = reading
        configuration.decoders = [.libavcodec]
        return configuration.makeSource()
    }

    /// The bridge's time limit for an operation.
    private static let limit = Duration.seconds(30)

    /// Reads an input to its end, within the bridge's time limits.
    ///
    /// - Returns: the result.
    private static func open(_ kind: MutatingServer.Kind, _ seed: Int, _ port: Int) -> String {
        let source = source(kind, "127.0.0.1:\(port)/\(kind.rawValue)/\(seed)")
        let context = SourceContext(
            clock: SystemClock(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        defer { source.close() }
        var frames = 0
        do {
            context.setDeadline(after: limit)
            _ = try source.open(context)
            while frames < 20 {
                context.setDeadline(after: limit)
                guard let frame = try source.next(context)?.frame else { break }
                frames += 1
                guard frame.size.isValid else { return "bad size" }
            }
            return "frames"
        } catch _ where context.shouldGiveUp {
            return "endless: \(kind) \(seed)"
        } catch let error as InletError {
            return frames > 0 ? "frames" : error.code.description
        } catch {
            return "untyped error"
        }
    }

    private static var memory: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}

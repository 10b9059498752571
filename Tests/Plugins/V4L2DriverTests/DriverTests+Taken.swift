import Foundation
import Inlet
import InletCapture
import InletCore
import InletV4L2
import ReferenceTools
import Testing
import V4L2Source

extension DriverTests {
    /// Cameras that another program takes from a running capture: the driver answers EBUSY until the program releases
    /// it.
    @Suite struct Taken {
        /// The reason of an interruption by a program that has the camera.
        private static func reason(_ taker: PeerProcess) -> String {
            "python3 (process \(taker.processIdentifier)) uses the camera"
        }

        @Test("In mid-stream, when the input changes: the stream continues with the new input when the camera is free")
        func midStream() throws {
            let configuration = try V4L2Configuration.hdmi()
            defer { Vivid.first.leaveHDMI() }
            let taker = try PeerProcess("v4l2-taker.py")
            defer { taker.stop() }
            let story = Story()
            let camera = try TestCamera(configuration) { reason in
                story.note(reason)
                if reason != nil { _ = try? taker.send("free", within: .seconds(20)) }
            }
            let first = try camera.next()
            try taker.send("take", ["bus": .string(Vivid.first.bus)])
            // The source releases its buffers for a moment at each change, which the other program may miss.
            var frame = first
            for round in 0..<20 where story.all.isEmpty {
                try Vivid.first.control("-c", "dv_timings=\(round.isMultiple(of: 2) ? 4 : 1)")
                repeat { frame = try camera.next() } while !frame.flags.contains(.discontinuity)
            }
            #expect(story.all == [Self.reason(taker), nil])
            #expect(frame.sequence > first.sequence)
            let number = try camera.next().sequence
            #expect(number > frame.sequence)
        }

        @Test("With read calls, which take the camera with the first picture: the source waits for it")
        func reading() throws {
            var configuration = V4L2Configuration.vivid()
            configuration.method = .read
            let taker = try PeerProcess("v4l2-taker.py")
            defer { taker.stop() }
            let story = Story()
            let camera = try TestCamera(configuration) { reason in
                story.note(reason)
                if reason != nil { _ = try? taker.send("free", within: .seconds(20)) }
            }
            try taker.send("take", ["bus": .string(Vivid.first.bus)])
            try #require(try taker.send("taken", ["seconds": 20], within: .seconds(30))["taken"] == true)
            _ = try camera.next()
            #expect(story.all == [Self.reason(taker), nil])
            _ = try camera.next()
        }

        @Test("Unplugged and back, while a capturer runs: it is interrupted with the program's name, and continues")
        func back() async throws {
            let taker = try PeerProcess("v4l2-taker.py")
            defer { taker.stop() }
            var settings = CapturerConfiguration()
            // The other program has the camera before it is opened again.
            settings.retry.firstDelay = .seconds(3)
            settings.retry.hasFullJitter = false
            settings.retry.healthyAfter = .zero
            let capturer = Capturer(V4L2Configuration.vivid(), configuration: settings)
            let events = capturer.events
            capturer.attach(try PluginRegistry.standard.sink("null:"))
            async let outcome = capturer.run()
            var states: [CapturerState] = []
            do {
                events: for await case .stateChanged(let state) in events {
                    states.append(state)
                    switch state {
                    case .live where states.contains(.interrupted(reason: Self.reason(taker))): break events
                    case .live: try Vivid.unbind()
                    case .waiting:
                        try taker.send("take", ["bus": .string(Vivid.first.bus)])
                        try Vivid.bind()
                        let answer = try taker.send("taken", ["seconds": 20], within: .seconds(30))
                        try #require(answer["taken"] == true)
                    case .interrupted: try taker.send("free", within: .seconds(20))
                    default: break
                    }
                }
            } catch {
                capturer.stop()
                _ = try? await outcome
                throw error
            }
            capturer.stop()
            _ = try await outcome
            let expected: [CapturerState] = [.interrupted(reason: Self.reason(taker)), .opening, .live]
            #expect(states.suffix(3) == expected, "\(states)")
        }
    }
}

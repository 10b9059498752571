import Foundation
import Inlet
import ReferenceTools
import Synchronization
import Testing

/// Viewers that join a live stream between two key frames.
@Suite(.tags(.server), .serialized, .fewAtATime, .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
struct JoiningTests {
    private static let rate = 60

    private func server(keyFrameInterval: Int, takesRequests: Bool = false) throws -> RTSPServer {
        var options = RTSPServer.Options()
        options.size = ImageSize(width: 160, height: 128)
        options.frameRate = Rational(Self.rate)
        options.keyFrameInterval = keyFrameInterval
        options.takesKeyFrameRequests = takesRequests
        return try RTSPServer(options)
    }

    private func expectWholePictures(_ readings: [TimecodeSink.Reading]) {
        expectWhole(readings)
        #expect(readings.allSatisfy { ($0.misfits ?? .max) <= TimecodePicture.tolerated }, "\(readings)")
        #expect(readings.first?.flags.contains(.key) == true)
    }

    @Test("No viewer of 100 that join between key frames is shown a damaged picture")
    func joins() async throws {
        let server = try server(keyFrameInterval: Self.rate / 2)
        let first = try NetworkRun(server.url, queue: .latest)
        let found = WaitList()
        _ = try await first.play { first in
            try await first.frames(beyond: 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for transport in ["tcp", "udp", "tcp", "udp"] {
                    group.addTask { try await join(server, beside: first, transport, count: 25, found) }
                }
                try await group.waitForAll()
            }
        }
        let waits = found.waits
        // Nearly all viewers joined between key frames, and had to wait.
        #expect(waits.count == 100 && waits.count { $0 > 3 } > 50, "\(waits)")
    }

    /// For each viewer, the number of pictures from the moment it joined to the first picture it was shown.
    private final class WaitList: Sendable {
        private let list = Mutex<[Int]>([])
        var waits: [Int] { list.withLock { $0 } }
        func add(_ wait: Int) { list.withLock { $0.append(wait) } }
    }

    private func join(
        _ server: RTSPServer, beside first: NetworkRun, _ transport: String, count: Int, _ found: WaitList
    ) async throws {
        for _ in 0..<count {
            let now = first.log.numbers.last ?? 0
            let run = try NetworkRun("\(server.url)?transport=\(transport)", frames: 5, comparedRate: Self.rate)
            #expect(try await run.play().get() == .frameLimit)
            let readings = run.log.readings
            #expect(readings.count == 5)
            expectWholePictures(readings)
            found.add((readings.first?.number ?? 0) - now)
        }
    }

    @Test(
        "A server that handles key-frame requests shows a picture before its next regular key frame",
        arguments: ["tcp", "udp"])
    func requests(_ transport: String) async throws {
        let interval = 20 * Self.rate
        let server = try server(keyFrameInterval: interval, takesRequests: true)
        let first = try NetworkRun(server.url, queue: .latest)
        _ = try await first.play { first in
            try await first.frames(beyond: 20)
            let late = try NetworkRun("\(server.url)?transport=\(transport)", frames: 5, comparedRate: Self.rate)
            #expect(try await late.play().get() == .frameLimit)
            expectWholePictures(late.log.readings)
            let began = try #require(first.log.numbers.first)
            let joined = try #require(late.log.numbers.first)
            #expect(joined - began < interval, "from \(began) to \(joined)")
        }
        #expect(try server.report()["keyRequests"]?.int ?? 0 > 0)
    }
}

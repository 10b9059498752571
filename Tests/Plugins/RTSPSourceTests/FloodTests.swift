import Foundation
import InletCore
import InletSystem
import RTSPSource
import ReferenceTools
import Synchronization
import Testing

extension RTSPSourceTests {
    /// A flood of datagrams from strangers, as fast as the machine can send.
    @Suite(.alone) struct FloodTests {
        /// Sends datagrams to a port of this machine until it is stopped.
        private final class Flood: Sendable {
            private let isOver = Atomic(false)

            init(to port: UInt16) throws {
                for _ in 0..<2 {
                    try SystemThread.start(named: "flood") { [self] in
                        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
                        var address = sockaddr_in()
                        address.sin_family = sa_family_t(AF_INET)
                        address.sin_port = port.bigEndian
                        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
                        let bytes: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 0x41, 0x9A]
                        while !isOver.load(ordering: .relaxed) {
                            _ = unsafe withUnsafePointer(to: &address) {
                                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                                    unsafe sendto(
                                        descriptor, bytes, bytes.count, 0, $0,
                                        socklen_t(MemoryLayout<sockaddr_in>.size))
                                }
                            }
                        }
                        close(descriptor)
                    }
                }
            }

            func stop() { isOver.store(true, ordering: .relaxed) }
        }

        @Test(
            "A flood of strangers' datagrams gives no picture, and delays neither a time-out nor a cancellation",
            arguments: [InletError.Code.timedOut, .cancelled])
        func strangers(_ code: InletError.Code) async throws {
            var options = try ScriptClip.of(.small).options
            options.pictures = 5
            let server = try RTSPScript(options)
            let run = SourceRun(
                .test(server.url) {
                    $0.transport = .udp
                    $0.readTimeout = code == .timedOut ? .seconds(2) : .seconds(60)
                }, decodes: false)
            _ = try await run.open()
            for _ in 0..<5 { #expect(try await run.next()?.packet != nil) }
            let transport = try #require(server.requests.compactMap { $0.headers["transport"] }.last)
            let port = try #require(transport.firstMatch(of: /client_port=(\d+)/).flatMap { UInt16($0.output.1) })
            let flood = try Flood(to: port)
            defer { flood.stop() }
            if code == .cancelled { run.cancel() }
            let error = await #expect(throws: InletError.self) { try await run.next() }
            #expect(error?.code == code, "\(error.map { "\($0)" } ?? "none")")
            try await run.close()
            try await expectTeardown(server)
        }
    }
}

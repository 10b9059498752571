import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// The source does not work while it waits. Each turn of its loop reads the clock.
    @Suite struct IdleTests {
        private let clock = CountingClock()
        /// Far more clock reads than by a waiting source, and far fewer than by one that does not wait.
        private static let mostReads = 2000

        private func server(_ delays: [String]) throws -> RTSPScript {
            var options = try ScriptClip.of(.small).options
            options.pictures = 0
            options.delays = delays
            return try RTSPScript(options)
        }

        @Test("The source waits for a slow server, even if RTCP is due meanwhile")
        func openings() async throws {
            let server = try server(["PLAY=1"])
            let run = SourceRun(
                .test(server.url) { $0.keyFrameRequests = .always }, decodes: false, clock: clock)
            _ = try await run.open()
            #expect(clock.reads < Self.mostReads)
            #expect(try await run.next()?.packet?.isKey == true)
            try await run.close()
        }

        @Test("Pictures that arrive during a pause or its end delay neither, and the source waits for them")
        func pauses() async throws {
            let server = try server(["PAUSE=0.5", "PLAY=0.5"])
            let run = SourceRun(.test(server.url), decodes: false, clock: clock)
            _ = try await run.open()
            #expect(try await run.next()?.packet != nil)
            let begin = clock.reads
            #expect(try await run.pause())
            try await run.resume()
            #expect(clock.reads - begin < Self.mostReads)
            #expect(server.methods.suffix(2) == ["PAUSE", "PLAY"])
            #expect(try await run.next()?.packet != nil)
            try await run.close()
        }

        @Test("Arriving data is progress, over any transport", arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func progress(_ transport: RTSPConfiguration.Transport) async throws {
            let server = try server([])
            let run = SourceRun(.test(server.url) { $0.transport = transport }, decodes: false, clock: clock)
            _ = try await run.open()
            _ = try await run.next()
            run.context.setDeadline(after: .seconds(60))
            let begin = try #require(run.context.operation?.quietSince)
            // Earlier data may give some pictures without another datagram; on a busy machine these are many.
            var count = 0
            while count < 500, run.context.operation?.quietSince == begin {
                _ = try #require(try await run.next())
                count += 1
            }
            #expect(try #require(run.context.operation?.quietSince) > begin, "\(count) pictures")
            try await run.close()
        }
    }
}

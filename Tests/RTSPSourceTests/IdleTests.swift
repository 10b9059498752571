import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// What the source does while it waits: nothing. Each turn of its loop reads the clock.
    @Suite struct IdleTests {
        private let clock = CountingClock()
        /// Far more than a source that waits reads the clock, and far less than one that does not wait.
        private static let mostReads = 2000

        private func server(_ delays: [String]) throws -> RTSPScript {
            var options = try ScriptClip.of(.small).options
            options.pictures = 0
            options.delays = delays
            return try RTSPScript(options)
        }

        @Test("A server that is slow to answer is waited for, whatever RTCP is due meanwhile")
        func openings() async throws {
            let server = try server(["PLAY=1"])
            let run = SourceRun(
                .test(server.url) { $0.keyFrameRequests = .always }, decodes: false, clock: clock)
            _ = try await run.open()
            #expect(clock.reads < Self.mostReads)
            #expect(try await run.next()?.packet?.isKey == true)
            try await run.close()
        }

        @Test("Pictures that come while a pause or its end is under way hold up neither, and are waited for")
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

        @Test("What arrives is progress, by whatever it comes", arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func progress(_ transport: RTSPConfiguration.Transport) async throws {
            let server = try server([])
            let run = SourceRun(.test(server.url) { $0.transport = transport }, decodes: false, clock: clock)
            _ = try await run.open()
            _ = try await run.next()
            run.context.setDeadline(after: .seconds(60))
            let begin = try #require(run.context.operation?.quietSince)
            // What has arrived before may make some without another datagram; on a busy machine that is many.
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

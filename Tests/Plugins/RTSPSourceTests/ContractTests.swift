import InletCore
import InletTesting
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// The contract of sources.
    @Suite struct ContractTests {
        private func server() throws -> RTSPScript {
            var options = try ScriptClip.of(.slices).options
            options.pictures = 0
            return try RTSPScript(options)
        }

        @Test("The contract of sources is kept over TCP and UDP", arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func pictures(_ transport: RTSPConfiguration.Transport) async throws {
            let server = try server()
            let broken = await SourceConformance.check(RTSPConfiguration.test(server.url) { $0.transport = transport })
            #expect(broken == [], "\(broken)")
        }

        @Test("The source of access units states its stream, and yields complete units with their times")
        func packets() async throws {
            let server = try server()
            let run = SourceRun(.test(server.url), decodes: false)
            let format = try await run.open()
            #expect(format.pacing == .live && format.packetStream?.parameters.codec == .h264)
            var last: MediaTime?
            for index in 0..<20 {
                let packet = try #require(try await run.next()?.packet)
                #expect(packet.isKey == (index % 8 == 0) && packet.data.count > 0)
                #expect(packet.parameters.timeBase == format.timeBase && packet.receiveTime != nil)
                let time = try #require(packet.pts)
                if let last { #expect(time > last) }
                last = time
            }
            try await run.close()
        }
    }
}

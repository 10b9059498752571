import InletCore
import RTSPSource
import Testing

/// Options of `rtsp:` that depend on each other.
@Suite struct OptionTests {
    private func configuration(_ uri: String) throws -> RTSPConfiguration {
        var registry = PluginRegistry()
        registry.register(.rtsp)
        return try #require(try registry.source(uri) as? RTSPConfiguration)
    }

    @Test("Pictures of an rtsps address are never sent unencrypted", arguments: ["udp", "multicast"])
    func encryption(_ transport: String) throws {
        let error = #expect(throws: InletError.self) { try configuration("rtsps://host/x?transport=\(transport)") }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("transport=tcp") == true)
        #expect(try configuration("rtsp://host/x?transport=\(transport)").transport.rawValue == transport)
        #expect(try configuration("rtsps://host/x?transport=tcp").transport == .tcp)
    }

    @Test("Without the plug-in's check, too, no connection is made")
    func withoutPlugin() async throws {
        let run = SourceRun(.test("rtsps://127.0.0.1:1/x") { $0.transport = .udp }, decodes: false)
        #expect(try await run.failure()?.code == .invalidConfiguration)
    }

    @Test("A link-local address without its interface is a configuration error")
    func zone() async throws {
        for address in ["rtsp://[fe80::1]/x", "rtsp://fe80::1/x", "rtsp://[febf::1]/x"] {
            let error = try await SourceRun(.test(address), decodes: false).failure()
            #expect(error?.code == .invalidConfiguration && error?.message.contains("%25eth0") == true, "\(address)")
        }
    }

    @Test("An option decides when Basic may be used")
    func basic() throws {
        #expect(try configuration("rtsp://host/x").basicAuthentication == .always)
        for choice in RTSPConfiguration.BasicAuthentication.allCases {
            #expect(try configuration("rtsp://h/x?basic-auth=\(choice.rawValue)").basicAuthentication == choice)
        }
        #expect(throws: InletError.self) { try configuration("rtsp://host/x?basic-auth=sometimes") }
    }
}

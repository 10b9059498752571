import ReferenceTools
import Testing

@Suite(.tags(.daemon), .fewDaemons, .takes(atMostMinutes: 3)) struct TakenPortTests {
    @Test("A daemon whose port is used by another exits with 75 and reports it, and the other continues")
    func taken() async throws {
        let serve = try await ServeProcess("cameras:\n  a: pattern:smpte?size=64x64&fps=5\n", tokens: false)
        let output = try await ReferenceCommand.runAside(
            "sh",
            ["-c", "timeout 60 \"$0\" serve \"$1\" 2>&1; echo status $?", BuiltProgram.inlet, serve.configuration])
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.contains("at 127.0.0.1 port \(serve.port): the port is in use"), "\(text)")
        #expect(text.hasSuffix("status 75\n"), "\(text)")
        let captured = try await serve.camera("a") { _ in true }.captured
        #expect(try await serve.camera("a") { $0.captured > captured + 2 }.openings == 1)
        #expect(await serve.end() == 0)
    }
}

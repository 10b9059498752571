import Foundation
import ReferenceTools
import Testing

/// The daemon's API against its OpenAPI document. The test takes a minute, and several on a busy machine.
@Suite(.tags(.daemon, .python), .fewDaemons, .takes(atMostMinutes: 10)) struct SchemaTests {
    private static let python = PeerProcess.python
    private static let pattern = "pattern:timecode?size=320x180&fps=20"

    @Test(
        "schemathesis finds no undocumented response, no 5xx, and no crash of the daemon",
        arguments: [
            "--max-examples 5 --exclude-path-regex stream.mjpeg|events|discover",
            // Each search takes three seconds.
            "--max-examples 3 --include-path-regex discover",
        ])
    func schema(selection: String) async throws {
        let serve = try await ServeProcess("cameras:\n  door: \(Self.pattern)\n  yard: \(Self.pattern)\n")
        let script = """
            unchecked=missing_required_header,unsupported_method,positive_data_acceptance,use_after_free
            unchecked+=,ensure_resource_availability
            cd "$1" || exit
            echo 'import schemathesis
            types = ["application/sdp", "application/trickle-ice-sdpfrag"]
            schemathesis.serializer.alias(types, "text/plain")' > schema_hooks.py
            SCHEMATHESIS_HOOKS=schema_hooks "$2" -m schemathesis.cli run "$3/v1/openapi.json" -H "Authorization: Bearer $4" \\
                $5 --seed 19 --workers 1 --request-timeout 30 --max-response-time 30 --no-color \\
                --suppress-health-check all --checks all --exclude-checks "$unchecked" 2>&1
            """
        let output = try await ReferenceCommand.runAside(
            "bash",
            [
                "-c", script + "; echo status $?", "schemathesis", serve.folder.path(""), Self.python, serve.address,
                ServeProcess.admin, selection,
            ])
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.hasSuffix("status 0\n"), "\(text)")
        #expect(!text.contains(" 0 selected /"), "\(text)")
        #expect(try await serve.ask("GET", "/v1/cameras").status == 200)
        #expect(await serve.end() == 0)
    }
}

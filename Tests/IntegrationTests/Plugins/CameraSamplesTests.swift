import Foundation
import ReferenceTools
import Testing

/// The plug-in samples that need an Aravis camera, or that a C driver calls as Inlet does.
///
/// The camera uses port 3956 (GigE Vision) at 127.0.0.1. It fails on a busy machine, so these tests run one after
/// another.
@Suite(.tags(.process)) struct CameraSamplesTests {
    @Test("The C++ and packet samples deliver what Aravis' camera sends and what ffprobe finds")
    func samples() async throws {
        let tests = BuiltProgram.package.appending(path: "Tests/TestPlugins").path
        try await ReferenceCommand.runAside(
            "timeout", ["600", "/usr/bin/python3", "-B", "-m", "unittest", "discover", tests])
    }
}

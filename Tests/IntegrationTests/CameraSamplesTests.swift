import Foundation
import ReferenceTools
import Testing

/// The samples of plug-ins that need a camera of Aravis, or that a driver in C calls as Inlet does.
///
/// The camera takes the port of GigE Vision, 3956, at 127.0.0.1. It has no patience with a busy machine, so these tests
/// run one after another.
@Suite(.tags(.process)) struct CameraSamplesTests {
    @Test("The samples in C++ and of packets give what Aravis' camera sends and what ffprobe finds")
    func samples() async throws {
        let tests = BuiltProgram.package.appending(path: "Tests/Plugins").path
        try await ReferenceCommand.runAside(
            "timeout", ["600", "/usr/bin/python3", "-B", "-m", "unittest", "discover", tests])
    }
}

import InletCore
import Testing

@Suite struct InletErrorTests {
    private struct Odd: Error, CustomStringConvertible { let description = "the moon is full" }

    @Test("Wrapping leaves an InletError unchanged")
    func wrapsItself() {
        let error = InletError(
            .busy, "Somebody has it.", context: .init(subject: "v4l2:/dev/video0", operation: "open", nativeCode: 16))
        let wrapped = InletError(wrapping: error, operation: "reading")
        #expect(wrapped.code == .busy)
        #expect(wrapped.message == error.message)
        #expect(wrapped.context.operation == "open")
        #expect(wrapped.context.nativeCode == 16)
        #expect(wrapped.cause == nil)
    }

    @Test("A cancelled task becomes the code cancelled")
    func wrapsCancellation() {
        let wrapped = InletError(wrapping: CancellationError(), operation: "reading")
        #expect(wrapped.code == .cancelled)
        #expect(wrapped.cause is CancellationError)
    }

    @Test("A foreign error becomes internal, with its text and itself as the cause")
    func wrapsStranger() {
        let wrapped = InletError(wrapping: Odd(), operation: "reading")
        #expect(wrapped.code == .internal)
        #expect(wrapped.message == "reading failed: the moon is full")
        #expect(wrapped.cause is Odd)
        #expect(wrapped.context.operation == "reading")
    }

    @Test("The first subject is kept")
    func about() {
        let error = InletError(.notFound, "It is not there.").about("file:a.mp4").about("file:b.mp4")
        #expect(error.context.subject == "file:a.mp4")
        #expect("\(error)" == "file:a.mp4: It is not there.")
        #expect("\(InletError(.notFound, "It is not there."))" == "It is not there.")
    }

    @Test("Text from a server, a file or an address controls no terminal and forges no log line")
    func sanitized() {
        let error = InletError(
            .unsupported, "The server says: \u{1B}[2J\u{202E}kO\r\nINFO all is well",
            context: .init(subject: "rtsp://host/\u{1B}]0;title\u{7}"))
        #expect(error.message == "The server says: \\u{1B}[2J\\u{202E}kO\\u{D}\\u{A}INFO all is well")
        #expect("\(error)".unicodeScalars.allSatisfy { $0.value >= 0x20 })
        var changed = error
        changed.message += "\n"
        #expect("\(changed)".unicodeScalars.allSatisfy { $0.value >= 0x20 })
        #expect("\(InletError(.internal, String(repeating: "a", count: 100_000)))".utf8.count <= 4096)
    }

    @Test("A code is identified by its name, so that a plug-in can add one")
    func openSet() {
        #expect(InletError.Code("busy") == .busy)
        #expect(InletError.Code("outOfFilm") != .busy)
        #expect("\(InletError.Code.internal)" == "internal")
    }
}

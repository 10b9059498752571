#if !GStreamer
import InletCore
import Testing
import WebRTCEngine

@Suite struct AbsentEngineTests {
    @Test("A build without the trait reports that it has no WebRTC, and how to build with it")
    func load() {
        let error = #expect(throws: InletError.self) { try GStreamerPeer.load() }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("swift build --traits GStreamer") == true)
    }
}
#endif

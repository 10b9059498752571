import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// gst-rtsp-server makes the encoder create a key frame when a picture loss indication arrives (RFC 4585, section
    /// 6.3.1).
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct KeyFrameRequestTests {
        /// A camera whose key frames are 100 s apart. The first viewer gets one, because the encoder begins with it.
        private func camera() throws -> RTSPServer {
            var options = RTSPServer.Options()
            options.size = ImageSize(width: 320, height: 240)
            options.keyFrameInterval = 3000
            return try RTSPServer(options)
        }

        @Test(
            "A viewer that joins between two key frames gets one long before the next is due",
            arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func joins(_ transport: RTSPConfiguration.Transport) async throws {
            let server = try camera()
            let first = SourceRun(.test(server.url), decodes: false)
            _ = try await first.open()
            for _ in 0..<10 { #expect(try await first.next()?.packet != nil) }
            let second = SourceRun(
                .test(server.url) {
                    $0.transport = transport
                    $0.keyFrameRequests = .always
                })
            _ = try await second.open()
            for _ in 0..<10 { #expect(try await second.next()?.frame != nil) }
            let figures = try #require(second.reception)
            #expect(figures.keyFrameRequests >= 1 && figures.keyFrameResponses == 1)
            // A sink's later request is passed on, too.
            second.context.requestKeyFrame()
            var isAnswered = false
            for _ in 0..<300 where !isAnswered {
                isAnswered = try #require(try await second.next()?.frame).flags.contains(.key)
            }
            #expect(isAnswered && second.reception?.keyFrameResponses == 2)
            try await second.close()
            // Without a request no key frame arrives.
            let third = SourceRun(
                .test(server.url) {
                    $0.transport = transport
                    $0.keyFrameRequests = .never
                })
            _ = try await third.open()
            async let cancelled: Void = third.cancel(after: .seconds(3))
            await #expect(throws: InletError.self) { _ = try await third.next() }
            await cancelled
            try await third.close()
            try await first.close()
        }
    }
}

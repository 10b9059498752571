import FFmpegSink
import InletCore
import ReferenceTools
import Testing

/// Streams to servers: the received pictures, and the permitted servers.
@Suite(.tags(.server), .fewAtATime) struct ServerTests {
    private struct NeverCame: Error {}

    @Test(
        "Pictures and their times arrive by UDP as they were sent",
        .enabled(if: StreamReceiver.missing == nil, "\(StreamReceiver.missing ?? "")"))
    func udp() async throws {
        let folder = try TemporaryFolder()
        let input = try Recording.pictures(count: 120)
        let times = Recording.varyingTimes(input.count)
        let server = try StreamReceiver(.ffmpeg(.udp))
        let options = "?bitrate=200k&threads=1"
        try Recording.write(input, to: server.url + options, times: times)
        // The same encoder with a file gives the pictures that the receiver should see.
        try Recording.write(input, to: "ts:\(folder.path("out.ts"))\(options)", times: times)
        let expected = try FrameLines.ffmpeg(folder.path("out.ts")).lines.map(\.md5)

        let end = ContinuousClock.now + .seconds(30)
        var pictures: [StreamReceiver.Picture] = []
        // ffmpeg holds the last ones back until others follow.
        while pictures.count < 60 {
            guard ContinuousClock.now < end else { throw NeverCame() }
            try await Task.sleep(for: .milliseconds(20))
            pictures = try server.pictures()
        }
        let first = pictures[0].pts
        for (index, picture) in pictures.enumerated() {
            #expect(picture.md5 == expected[index], "picture \(index)")
            #expect(abs(picture.pts - first - Int((times[index] * 90_000).rounded())) <= 1, "picture \(index)")
        }
    }

    /// Writes pictures until the server's decoder has output this many.
    ///
    /// - Parameter options: the sink's options. On a busy machine GStreamer takes longer to answer than the default
    ///   allows.
    private func publish(to server: StreamReceiver, _ options: String, until count: Int) throws {
        let input = try Recording.pictures(count: 10)
        let sink = try Recording.registry.sink("\(server.url)?connect-timeout=20s&\(options)").makeSink()
        try sink.start(Recording.format(input.size), SinkContext())
        let end = ContinuousClock.now + .seconds(30)
        var index = 0
        while try server.frames() < count {
            guard ContinuousClock.now < end else { throw NeverCame() }
            try sink.consume(Recording.frame(input.padded(index % 10), index, at: Double(index) / 30))
            index += 1
        }
        try sink.finish()
    }

    @Test(
        "GStreamer's RTSP server decodes every codec that is published to it",
        .enabled(if: StreamReceiver.missing == nil, "\(StreamReceiver.missing ?? "")"),
        arguments: FFmpegContainer.rtsp.codecs)
    func rtspCodecs(_ codec: VideoCodec) throws {
        let server = try StreamReceiver(.gstreamer(codec: codec.rawValue))
        try publish(to: server, "codec=\(codec)", until: 10)
    }

    private func failure(_ uri: String) throws -> InletError? {
        do {
            try Recording.write(Recording.pictures(count: 5), to: uri)
            return nil
        } catch let error as InletError {
            return error
        }
    }

    @Test("An RTMP server over TLS must have a certificate by a known authority")
    func certificates() throws {
        var options = HostileServer.Options()
        options.isTLS = true
        options.kind = .random
        let server = try HostileServer(options)
        let url = server.url("rtmps", "/live/key")
        #expect(try failure(url)?.code == .tlsFailed)
        let other = try HostileServer(options)
        #expect(try failure("\(url)?tls-ca=\(other.authority ?? "")")?.code == .tlsFailed)
        // The data after the TLS handshake is not RTMP, which is expected.
        for option in ["tls-ca=\(server.authority ?? "")", "tls-verify=false"] {
            let error = try #require(try failure("\(url)?\(option)"))
            #expect(error.code != .tlsFailed, "\(error)")
        }
    }

    @Test(
        "RTSP over TLS is published if any certificate is allowed, and refused if it cannot be checked",
        .enabled(if: StreamReceiver.missing == nil, "\(StreamReceiver.missing ?? "")"))
    func rtsps() throws {
        let server = try StreamReceiver(.gstreamer(isTLS: true))
        // libavformat 5.1 cannot check it, later versions do.
        #expect([.unsupported, .tlsFailed].contains(try failure(server.url)?.code))
        try publish(to: server, "tls-verify=false", until: 10)
    }
}

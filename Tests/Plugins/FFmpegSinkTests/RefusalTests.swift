import FFmpegSink
import InletCore
import ReferenceTools
import Testing

/// Impossible settings are refused, with advice.
@Suite(.tags(.encoder), .blocking) struct RefusalTests {
    @Test(
        "Impossible options are refused before anything is opened, and the message names possible ones",
        arguments: [
            ("mp4:", "Add a path to mp4:"),
            ("mp4:out.mp4?codec=h263", "h264 | hevc"),
            ("webm:out.webm?codec=h264", "It supports vp9, vp8, av1"),
            ("mp4:out.mp4?bitrate=10", "1k to 1G"),
            ("mp4:out.mp4?quality=101", "1 to 100"),
            ("mp4:out.mp4?threads=65", "0 to 64"),
            ("mp4:out.mp4?gop=0", "1ms to"),
            ("mp4:out.mp4?bitrate=1M&quality=50", "not both"),
            ("mkv:out.mkv?codec=ffv1&quality=50", "lossless"),
            ("mp4:out.mp4?segment=10s", "overwrite"),
            ("mp4:out-{date}.mp4?segment=10s", "the same name"),
            ("mp4:out-{number}.mp4", "{n}, {n:DIGITS}, {date}"),
            ("mp4:{date}/out-{n}.mp4", "file's name only"),
            ("hls:live?keep-size=1M", "cannot be split"),
            ("hls:live?segment=500ms", "1s or more"),
            ("mp4:out.mp4?bitrat=1M", "Did you mean 'bitrate'"),
            ("rtmp:server", "rtmp://host/path"),
            ("rtmp://server/live?codec=vp8", "It supports h264"),
        ])
    func options(_ uri: String, _ part: String) {
        do {
            _ = try Recording.registry.sink(uri)
            Issue.record("\(uri) was taken")
        } catch {
            #expect((error as? InletError)?.code == .invalidConfiguration)
            #expect("\(error)".contains(part), "\(error)")
        }
    }

    @Test(
        "Paths that cannot be written are typed errors",
        arguments: [
            ("none/out.mp4", InletError.Code.notFound), ("", .invalidConfiguration),
        ])
    func paths(_ name: String, _ code: InletError.Code) throws {
        let folder = try TemporaryFolder()
        do {
            try Recording.write(Recording.pictures(count: 1), to: "mp4:\(folder.path(name))\(name.isEmpty ? "/" : "")")
            Issue.record("written")
        } catch {
            #expect((error as? InletError)?.code == code, "\(error)")
        }
    }

    @Test(
        "A missing server is refused within the time-out",
        arguments: [
            ("rtmp://127.0.0.1:1/live/key", InletError.Code.connectionRefused),
            ("rtsp://127.0.0.1:1/cam", .connectionRefused),
            ("srt://127.0.0.1:1?connect-timeout=500ms", .timedOut),
        ])
    func servers(_ uri: String, _ code: InletError.Code) throws {
        do {
            try Recording.write(Recording.pictures(count: 1), to: uri)
            Issue.record("sent")
        } catch {
            let error = try #require(error as? InletError)
            #expect([code, .timedOut].contains(error.code), "\(error)")
        }
    }

    @Test("Passwords are not in the sink's name")
    func redaction() throws {
        let sink = try Recording.registry.sink("rtmp://user:geheim@server/live/key?token=geheim")
        #expect(!sink.redactedURI.contains("geheim"))
    }
}

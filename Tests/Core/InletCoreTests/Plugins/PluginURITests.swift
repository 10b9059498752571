import InletCore
import Testing

@Suite struct PluginURITests {
    private func parts(_ text: String) throws -> [String] {
        let uri = try PluginURI(text)
        return [uri.scheme, uri.rest] + uri.options.map { "\($0.name)=\($0.value)" }
    }

    @Test(
        "A URI has a scheme, a rest and options",
        arguments: [
            ("pattern:smpte?size=1280x720&fps=30", ["pattern", "smpte", "size=1280x720", "fps=30"]),
            ("PATTERN:Smpte", ["pattern", "Smpte"]),
            ("null:", ["null", ""]),
            ("y4m:-", ["y4m", "-"]),
            ("v4l2:/dev/video0?size=640x480", ["v4l2", "/dev/video0", "size=640x480"]),
            ("rtsp://host:554/path?timeout=5s", ["rtsp", "//host:554/path", "timeout=5s"]),
            ("file:a.mp4?", ["file", "a.mp4"]),
            ("file:a.mp4?&&loop=2&", ["file", "a.mp4", "loop=2"]),
            ("file:a.mp4?start=", ["file", "a.mp4", "start="]),
            ("file:a.mp4?title=a=b", ["file", "a.mp4", "title=a=b"]),
            ("x+y-z.1:rest", ["x+y-z.1", "rest"]),
        ])
    func parses(text: String, expected: [String]) throws {
        #expect(try parts(text) == expected)
    }

    @Test(
        "A text without a scheme is a local path, used unchanged",
        arguments: [
            ("clip.mp4", ["file", "clip.mp4"]),
            ("/a b/100%/clip.mp4", ["file", "/a b/100%/clip.mp4"]),
            ("./pattern:1.mp4", ["file", "./pattern:1.mp4"]),
            ("my clip:1.mp4", ["file", "my clip:1.mp4"]),
            ("2024:clip.mp4", ["file", "2024:clip.mp4"]),
            (":clip", ["file", ":clip"]),
            ("-", ["file", "-"]),
            ("bücher:1.mp4", ["file", "bücher:1.mp4"]),
            ("clip.mp4?loop=2&start=1.5s", ["file", "clip.mp4", "loop=2", "start=1.5s"]),
            ("100%41.mp4?x=%41", ["file", "100%41.mp4", "x=A"]),
        ])
    func paths(text: String, expected: [String]) throws {
        #expect(try parts(text) == expected)
    }

    @Test(
        "Escapes are decoded if a scheme is given, and in options",
        arguments: [
            ("file:what%3F.mp4", ["file", "what?.mp4"]),
            ("file:100%25.mp4", ["file", "100%.mp4"]),
            ("file:%c3%A9t%C3%a9.mp4?x=%26%3d", ["file", "été.mp4", "x=&="]),
            ("file:a?n%61me=1", ["file", "a", "name=1"]),
            ("file:a+b?x=a+b", ["file", "a+b", "x=a+b"]),
        ])
    func escapes(text: String, expected: [String]) throws {
        #expect(try parts(text) == expected)
    }

    @Test(
        "Unreadable text is refused with a suggestion",
        arguments: [
            ("", "pattern:smpte"), ("file:100%", "%25"), ("file:100%4", "%25"), ("file:%zz", "%25"),
            ("file:%+5", "%25"), ("file:%-0", "%25"), ("file:%\u{FF11}0", "%25"), ("file:%ff", "UTF-8"),
            ("file:a?x=%f", "%25"),
            ("pattern:smpte?size", "The option 'size' has no value"), ("pattern:smpte?=5", "'=5'"),
            ("what?.mp4", "written %3F"),
        ])
    func refuses(text: String, hint: String) {
        let error = #expect(throws: InletError.self) { try PluginURI(text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }

    @Test(
        "A question mark in a password does not begin the options",
        arguments: [
            ("rtsp://admin:what?@host/path?timeout=5s", ["rtsp", "//admin:what?@host/path", "timeout=5s"]),
            ("rtsp://admin:a/b?c=d@host/path", ["rtsp", "//admin:a/b?c=d@host/path"]),
            ("rtsp://host:554/path?mail=me@home", ["rtsp", "//host:554/path", "mail=me@home"]),
            ("rtsp://host/path?mail=me@home", ["rtsp", "//host/path", "mail=me@home"]),
            ("rtsp://u:p@host/path?mail=me@home", ["rtsp", "//u:p@host/path", "mail=me@home"]),
        ])
    func questionMarkInPassword(text: String, expected: [String]) throws {
        #expect(try parts(text) == expected)
    }

    @Test(
        "No error quotes a part of a password",
        arguments: [
            "rtsp://admin:12?hunter2@host/", "rtsp://admin:12/b?hunter2@host/", "rtsp://host/?password=a&hunter2",
            "rtsp://admin:hunter2@host/?=broken", "rtsp://admin:hunter2@host/?a=%zz",
        ])
    func errorsHoldNoSecret(text: String) {
        let error = #expect(throws: InletError.self) { try PluginURI(text) }
        #expect(error.map { "\($0)" }?.contains("hunter2") == false, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("A % in an address that begins no escape is literal, as in a password")
    func percent() throws {
        #expect(try parts("rtsp://admin:50%@host/?a=b") == ["rtsp", "//admin:50%@host/", "a=b"])
        #expect(try parts("rtsp://admin:a%41@host/") == ["rtsp", "//admin:a%41@host/"])
    }

    @Test("Showing a URI shows no password")
    func description() throws {
        let uri = try PluginURI("rtsp://admin:hunter2@host/path?token=abc&timeout=5s")
        #expect("\(uri)" == "rtsp://***@host/path?token=***&timeout=***")
        #expect(String(reflecting: uri) == "\(uri)")
        #expect(uri.text.contains("hunter2"))
    }
}

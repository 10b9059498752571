import Testing

@testable import InletCore

@Suite struct RedactionTests {
    static let passwords = [
        "hunter2", "p@ss", "p:ss", "p/ss", "p?ss", "p#ss", "p%ss", "p%40ss", "p&ss", "p;ss", "p=ss", "a@b:c/d?e#f",
        "@", "?", "/", "//", ":", "1234?", "12/34", "12?34@56", "pässwörd", "пароль", "🔑", "a+b", "[x]", "{y}",
        "x@y/z?q=1&r=2", "?a=b", "***", "$HOME", "`id`", "\\",
    ]

    @Test("A password of any characters is blotted out, and nothing else is changed", arguments: passwords)
    func userInformation(password: String) {
        #expect(
            Redaction.redact("rtsp://admin:\(password)@camera.local:554/path/1") == "rtsp://***@camera.local:554/path/1"
        )
        #expect(
            Redaction.redact("Could not open rtsp://admin:\(password)@host/a: refused (111).")
                == "Could not open rtsp://***@host/a: refused (111).")
    }

    @Test(
        "A password with spaces or quotes is blotted out too",
        arguments: ["my pass", "a b c", "it's", "say \"hi\"", "a<b>c", "a @b", "1234 x"])
    func spaces(password: String) {
        #expect(Redaction.redact(uri: "rtsp://admin:\(password)@host/path") == "rtsp://***@host/path")
    }

    @Test("A password with spaces is found in running text where no port could be meant")
    func spacesInText() {
        #expect(Redaction.redact("open rtsp://admin:my pass@host/path failed") == "open rtsp://***@host/path failed")
        #expect(Redaction.redact("open rtsp://admin:my p@ss@host/path failed") == "open rtsp://***@host/path failed")
    }

    @Test("Credentials in the address of a relay are blotted out, though it has no place for them")
    func relays() {
        #expect(
            Redaction.redact(uri: "webrtc:?turn=turn:ann:p@ss@h:99,turns:bob:b@h&fps=9")
                == "webrtc:?turn=turn:***@h&fps=9")
        #expect(Redaction.redact("a relay at turns:ann:pass@h now") == "a relay at turns:***@h now")
        #expect(Redaction.redact(uri: "webrtc:?turn=turn:h:99&stun=stun:h") == "webrtc:?turn=turn:h:99&stun=stun:h")
    }

    @Test(
        "The value of a secret parameter is blotted out",
        arguments: [
            ("http://h/v?user=a&password=b&x=1", "http://h/v?user=a&password=***&x=1"),
            ("http://h/v?pwd=b", "http://h/v?pwd=***"),
            ("http://h/v?PASSWORD=b#top", "http://h/v?PASSWORD=***"),
            ("http://h/v?access_token=b&y=2", "http://h/v?access_token=***&y=2"),
            ("http://h/v?X-Amz-Signature=b", "http://h/v?X-Amz-Signature=***"),
            ("http://h/v?pass=b&key=c&passthrough=1", "http://h/v?pass=***&key=***&passthrough=1"),
            ("http://h/v?loginuse=a&loginpas=b", "http://h/v?loginuse=a&loginpas=***"),
            ("http://h/v?a=1;secret=b", "http://h/v?a=1;secret=***"),
            ("http://h/v?password=b&c&x=1", "http://h/v?password=***&x=1"),
            ("http://h/v?password=b;c;d", "http://h/v?password=***"),
            ("http://h/v?password=", "http://h/v?password=***"),
            ("rtsp:h?password=a=b", "rtsp:h?password=***"),
            ("'http://h/v?token=abc', said the log", "'http://h/v?token=***', said the log"),
        ])
    func parameters(text: String, expected: String) {
        #expect(Redaction.redact(text) == expected)
    }

    @Test(
        "Text without secrets is left as it is",
        arguments: [
            "", "clip.mp4", "file:/a/b.mp4?loop=2", "rtsp://host:554/path?timeout=5s", "http://host/?mail=me@home",
            "me@home wrote to you@work", "a // b @ c", "password-file=/etc/secret", "x?password-file=/run/pw",
            "x?key-env=CAMERA_KEY", "keyframe?keyint=30", "What? No; yes & no.", "// comment", "v4l2:/dev/video0",
        ])
    func unchanged(text: String) {
        #expect(Redaction.redact(text) == text)
    }

    @Test("Where an @ behind a ? may end a password, the host is hidden rather than the password shown")
    func hidesMore() {
        #expect(Redaction.redact("rtsp://host:554/path?mail=me@home") == "rtsp://***@home")
        #expect(Redaction.redact("rtsp://u:p@host/path?mail=me@home") == "rtsp://***@home")
    }

    @Test("Every URL of a line is redacted, each on its own")
    func severalURLs() {
        #expect(
            Redaction.redact("tried rtsp://a:b@h1/x then \"http://c:d@h2/y?token=e&f=g\" and //i:j@k/, gave up @ 5")
                == "tried rtsp://***@h1/x then \"http://***@h2/y?token=***&f=g\" and //***@k/, gave up @ 5")
    }

    @Test("A user without a password is blotted out as well, since it may be a token")
    func userOnly() {
        #expect(Redaction.redact("http://ghp_abc@host/x") == "http://***@host/x")
    }

    @Test("Redacting twice changes nothing more", arguments: passwords)
    func idempotent(password: String) {
        let once = Redaction.redact("x rtsp://admin:\(password)@host/p?password=\(password)&y=1")
        #expect(Redaction.redact(once) == once)
    }

    @Test("A long hostile text takes time in proportion to its length")
    func long() {
        let text = String(repeating: "//a:?&password=;@", count: 2_000)
        #expect(!Redaction.redact(text).contains("a:?"))
    }

    @Test(
        "The value of a secret option of a command is blotted out",
        arguments: [
            ("exec:a --password hunter2 b", "exec:a --password *** b"), ("a --api-key=x y", "a --api-key=*** y"),
            ("exec:TOKEN=x a", "exec:TOKEN=*** a"), ("a MY_SECRET='b c' d", "a MY_SECRET=*** d"),
            ("a --password 'b c' d", "a --password *** d"), ("a --password", "a --password"),
            ("a --password --verbose b", "a --password --verbose b"), ("a --key-file b", "a --key-file b"),
            ("a --width 3 b=c", "a --width 3 b=c"), ("don't --token b", "don't --token ***"),
            ("a --passphrase \"b", "a --passphrase ***"),
        ])
    func commandOptions(text: String, expected: String) {
        #expect(Redaction.redact(text) == expected)
        #expect(Redaction.redact(uri: text) == expected)
    }

    @Test("The key behind an RTMP application is blotted out, and nothing else of the address")
    func streamKeys() {
        #expect(
            Redaction.redact("sent to rtmp://live.example/app/abc-def now") == "sent to rtmp://live.example/app/*** now"
        )
        #expect(Redaction.redact("rtmps://a:443/app/one/two?x=1") == "rtmps://a:443/app/***?x=1")
        #expect(Redaction.redact(uri: "rtmp://a/app") == "rtmp://a/app")
        #expect(Redaction.redact("rtsp://a/app/stream") == "rtsp://a/app/stream")
    }
}

import Testing

@testable import InletCore

@Suite struct RedactionTests {
    static let passwords = [
        "hunter2", "p@ss", "p:ss", "p/ss", "p?ss", "p#ss", "p%ss", "p%40ss", "p&ss", "p;ss", "p=ss", "a@b:c/d?e#f",
        "@", "?", "/", "//", ":", "1234?", "12/34", "12?34@56", "pässwörd", "пароль", "🔑", "a+b", "[x]", "{y}",
        "x@y/z?q=1&r=2", "?a=b", "***", "$HOME", "`id`", "\\",
    ]

    @Test("A password of any characters is redacted, and nothing else is changed", arguments: passwords)
    func userInformation(password: String) {
        #expect(
            Redaction.redact("rtsp://admin:\(password)@camera.local:554/path/1") == "rtsp://***@camera.local:554/path/1"
        )
        #expect(
            Redaction.redact("Could not open rtsp://admin:\(password)@host/a: refused (111).")
                == "Could not open rtsp://***@host/a: refused (111).")
    }

    @Test(
        "A password with spaces or quotes is redacted too",
        arguments: ["my pass", "a b c", "it's", "say \"hi\"", "a<b>c", "a @b", "1234 x"])
    func spaces(password: String) {
        #expect(Redaction.redact(uri: "rtsp://admin:\(password)@host/path") == "rtsp://***@host/path")
    }

    @Test("A password with spaces is found in running text unless it could be a port")
    func spacesInText() {
        #expect(Redaction.redact("open rtsp://admin:my pass@host/path failed") == "open rtsp://***@host/path failed")
        #expect(Redaction.redact("open rtsp://admin:my p@ss@host/path failed") == "open rtsp://***@host/path failed")
    }

    @Test("No text makes it fail, however its lines and addresses end")
    func anyText() {
        // Found by libFuzzer: an address of several lines, with an @ after the end of the first.
        #expect(Redaction.redact(uri: "p://*?a:b\r\nc@d").hasPrefix("p://"))
        let parts = [
            "rtsp", "turn", "rtmp", "://", "//", "/", ":", "@", "?", "&", "=", "\r", "\n", " ", "\"", "'", "<", "a",
            "1",
            "password", "--key", "Authorization:", "\u{0}", "é", "%40", ";", ",", "*",
        ]
        var random = SplitMix64(seed: 7)
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...14, using: &random)
            let text = (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            _ = Redaction.redact(text)
            _ = Redaction.redact(uri: text)
        }
    }

    @Test("Credentials in a relay's address are redacted, though its format has no place for them")
    func relays() {
        #expect(
            Redaction.redact(uri: "webrtc:?turn=turn:ann:p@ss@h:99,turns:bob:b@h&fps=9")
                == "webrtc:?turn=***&fps=***")
        #expect(
            Redaction.redact(uri: "webrtc:?turn=turn:ann:p@ss@h:99,turns:bob:b@h&fps=9") {
                ["turn", "fps"].contains($0)
            }
                == "webrtc:?turn=turn:***@h&fps=9")
        #expect(Redaction.redact("a relay at turns:ann:pass@h now") == "a relay at turns:***@h now")
        #expect(Redaction.redact("turns:bob:b@h, then turn:ann:a@h") == "turns:***@h, then turn:***@h")
        #expect(Redaction.redact("turn:h:99 and stun:h") == "turn:h:99 and stun:h")
    }

    @Test(
        "The values of a query are redacted, whatever their names",
        arguments: [
            ("http://h/v?user=a&password=b&x=1", "http://h/v?user=***&password=***&x=***"),
            ("http://h/v?pwd=b", "http://h/v?pwd=***"),
            ("http://h/v?PASSWORD=b#top", "http://h/v?PASSWORD=***"),
            ("http://h/v?access_token=b&y=2", "http://h/v?access_token=***&y=***"),
            ("http://h/v?X-Amz-Signature=b", "http://h/v?X-Amz-Signature=***"),
            ("http://h/v?pass=b&key=c&passthrough=1", "http://h/v?pass=***&key=***&passthrough=***"),
            ("http://h/v?loginuse=a&loginpas=b", "http://h/v?loginuse=***&loginpas=***"),
            ("http://h/v?a=1;secret=b", "http://h/v?a=***;secret=***"),
            ("http://h/v?password=b&c&x=1", "http://h/v?password=***&x=***"),
            ("http://h/v?password=b;c;d", "http://h/v?password=***"),
            ("http://h/v?password=", "http://h/v?password=***"),
            ("rtsp:h?password=a=b", "rtsp:h?password=***"),
            ("'http://h/v?token=abc', said the log", "'http://h/v?token=***', said the log"),
        ])
    func parameters(text: String, expected: String) {
        #expect(Redaction.redact(text) == expected)
    }

    @Test(
        "Text without secrets is unchanged",
        arguments: [
            "", "clip.mp4", "file:/a/b.mp4", "rtsp://host:554/path", "rtsp://host/cam?channel=12&subtype=0",
            "me@home wrote to you@work", "a // b @ c", "password-file=/etc/secret", "key-env=CAMERA_KEY",
            "What? No; yes & no.", "// comment", "v4l2:/dev/video0", "a\nb: c\n", "\n\n", "no cookies, please",
        ])
    func unchanged(text: String) {
        #expect(Redaction.redact(text) == text)
    }

    @Test("If an @ after a ? may end a password, the host is hidden rather than the password shown")
    func hidesMore() {
        #expect(Redaction.redact("rtsp://host:554/path?mail=me@home") == "rtsp://***@home")
        #expect(Redaction.redact("rtsp://u:p@host/path?mail=me@home") == "rtsp://***@home")
        #expect(Redaction.redact("http://host/?mail=me@home") == "http://host/?mail=***")
    }

    /// Addresses with `hunter2` in places where people and programs put secrets, and their redacted forms.
    static let nasty = [
        ("srt://h:9000?streamid=#!::u=admin,s=hunter2&latency=200", "srt://h:9000?streamid=***&latency=***"),
        ("srt://h:9000?mode=caller&passphrase=hunter2", "srt://h:9000?mode=***&passphrase=***"),
        ("https://h/live.m3u8?jwt=hunter2.x.y", "https://h/live.m3u8?jwt=***"),
        (
            "https://h/v?X-Amz-Credential=a%2Fb&X-Amz-Signature=hunter2",
            "https://h/v?X-Amz-Credential=***&X-Amz-Signature=***"
        ),
        (
            "https://h/v?Policy=a~b&Key-Pair-Id=c&Signature=hunter2__",
            "https://h/v?Policy=***&Key-Pair-Id=***&Signature=***"
        ),
        ("https://h/v?hdnea=st=1~exp=2~acl=/*~hmac=hunter2", "https://h/v?hdnea=***"),
        ("https://h/hdntl=exp=1~hmac=hunter2/v.m3u8", "https://h/hdntl=***/v.m3u8"),
        ("https://h/v;jsessionid=hunter2/x", "https://h/v;jsessionid=***/x"),
        (
            "rtsp://h:554/user=admin&password=hunter2&channel=1&stream=0.sdp",
            "rtsp://h:554/user=***&password=***&channel=1&stream=***"
        ),
        ("rtsp://h:554/user=admin_password=hunter2_channel=1", "rtsp://h:554/user=***"),
        ("http://h/v?hunter2", "http://h/v?***"), ("http://h/v?main&hunter2", "http://h/v?***&***"),
        ("http://h/v?a=1&&hunter2&=hunter2", "http://h/v?a=***&=***"),
        ("http://h/v#access_token=hunter2", "http://h/v#***"), ("http://h/v?a=b#hunter2", "http://h/v?a=***"),
        ("http://h/v?next=http://me:hunter2@g/x", "http://h/v?next=***"),
        ("http://h/v?next=http%3A%2F%2Fme%3Ahunter2%40g", "http://h/v?next=***"),
        ("http://h/v?%70assword=hunter2", "http://h/v?%70assword=***"), ("http://h/v?x=?y=hunter2", "http://h/v?x=***"),
        ("http://h/v?channel=hunter2&stream=1234", "http://h/v?channel=***&stream=***"),
        ("HTTP://h/v?A=hunter2", "HTTP://h/v?A=***"), ("//h/v?a=hunter2", "//h/v?a=***"),
        ("http://[::1]:80/v?a=hunter2", "http://[::1]:80/v?a=***"),
        ("rtmp://h/app/hunter2&x", "rtmp://h/app/***"), ("rtmp://h/app/a?k=hunter2", "rtmp://h/app/***?k=***"),
        ("rtmpts://h/app/instance/hunter2", "rtmpts://h/app/***"),
        // To a C program these are an @, a ?, an & and an =, whatever Swift's characters are.
        ("rtsp://admin:hunter2@\u{301}h/x", "rtsp://***@\u{301}h/x"),
        ("http://h/v?\u{301}a=hunter2", "http://h/v?\u{301}a=***"),
        ("http://h/v?a=1&\u{308}b=hunter2", "http://h/v?a=***&\u{308}b=***"),
        ("http://h/v?a=\u{308}hunter2", "http://h/v?a=***"),
        ("http://h/v?a\u{37e}b=hunter2", "http://h/v?a\u{37e}b=***"),
        ("http://h/v?password\u{301}=hunter2", "http://h/v?password\u{301}=***"),
        ("whip+https://h/live?room=hunter2", "whip+https://h/live?room=***"),
        ("seg-1.ts?sig=hunter2", "seg-1.ts?sig=***"),
        ("pattern:smpte?sise=hunter2", "pattern:smpte?sise=***"),
        ("crypto+https://h/k?t=hunter2", "crypto+https://h/k?t=***"),
    ]

    @Test("No address shows a secret, in running text or by itself", arguments: nasty)
    func nastyAddresses(address: String, expected: String) {
        #expect(Redaction.redact(uri: address) == expected)
        #expect(!Redaction.redact("opening '\(address)' for reading: \(address) failed").contains("hunter2"))
        #expect(Redaction.redact(uri: expected) == expected)
    }

    @Test(
        "Programs' messages about requests show no secret",
        arguments: [
            ("Location: https://h/v?t=hunter2\r\nServer: x", "Location: https://h/v?t=***\r\nServer: x"),
            ("Authorization: Digest username=\"a\", response=\"hunter2\"\r\nx", "Authorization: ***\nx"),
            ("> authorization: Bearer hunter2", "> authorization: ***"),
            ("Set-Cookie: a=hunter2; Path=/\nb", "Set-Cookie: ***\nb"),
            (
                "[hls @ 0x1] Opening 'crypto+https://h/a.ts?t=hunter2' for reading",
                "[hls @ 0x1] Opening 'crypto+https://h/a.ts?t=***' for reading"
            ),
            ("HTTP error 403 on /a.ts?t=hunter2&b=hunter2", "HTTP error 403 on /a.ts?t=***&b=***"),
            ("Unexpected argument 'rtsp://admin:hunter2@h/x'", "Unexpected argument 'rtsp://***@h/x'"),
        ])
    func messages(text: String, expected: String) {
        #expect(Redaction.redact(text) == expected)
    }

    @Test(
        "The values of declared options are shown unless they are secrets, but a name never excepts a secret")
    func declared() throws {
        let options = [
            PluginOption.secret("token", "").description, PluginOption("fps", default: 1, "").description,
            PluginOption("password", default: 1, "").description,
        ]
        let uri = try PluginURI(
            "http://u:p@h/v?fps=5&token=a&token-file=/run/t&token-env=T&password=1&fsp=5&a-file=b&query.k-file=/run/k")
        #expect(
            uri.redacted(declared: options)
                == "http://***@h/v?fps=5&token=***&token-file=/run/t&token-env=T&password=***&fsp=***&a-file=***&query.k-file=/run/k"
        )
        #expect(uri.redacted == Redaction.redact(uri: uri.text))
    }

    @Test("Every URL of a line is redacted separately")
    func severalURLs() {
        #expect(
            Redaction.redact("tried rtsp://a:b@h1/x then \"http://c:d@h2/y?token=e&f=g\" and //i:j@k/, gave up @ 5")
                == "tried rtsp://***@h1/x then \"http://***@h2/y?token=***&f=***\" and //***@k/, gave up @ 5")
    }

    @Test("A user without a password is redacted as well, because it may be a token")
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
        let slashes = String(repeating: "//a:", count: 10_000)
        #expect(Redaction.redact(slashes) == slashes)
    }

    @Test(
        "The value of a command's secret option is redacted",
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

    @Test("The key after an RTMP application is redacted, and nothing else of the address")
    func streamKeys() {
        #expect(
            Redaction.redact("sent to rtmp://live.example/app/abc-def now") == "sent to rtmp://live.example/app/*** now"
        )
        #expect(Redaction.redact("rtmps://a:443/app/one/two?x=1") == "rtmps://a:443/app/***?x=***")
        #expect(Redaction.redact(uri: "rtmp://a/app") == "rtmp://a/app")
        #expect(Redaction.redact("rtsp://a/app/stream") == "rtsp://a/app/stream")
    }

    @Test("An address controls no terminal and forges no log line")
    func sanitized() {
        #expect(
            Redaction.redact(uri: "rtsp://me:pw@host/\u{1B}[2J\r\nINFO x")
                == "rtsp://***@host/\\u{1B}[2J\\u{D}\\u{A}INFO x")
    }
}

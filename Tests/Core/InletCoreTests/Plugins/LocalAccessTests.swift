import InletCore
import Testing

@Suite struct LocalAccessTests {
    private static let token = PluginOption.secret("token", "The token of all viewers")
    private static let authorities = PluginOption.file("ca", "Certificates")
    private static let passphrase = PluginOption.secret("passphrase", "The passphrase").only(for: "srt")
    private static let user = PluginOption<String?>("user", default: nil, "The user")
    private static let declared = [
        token.description, authorities.description, passphrase.description, user.description,
    ]

    /// Paths and their contents.
    private static func access(_ contents: [LocalAccess.Place: String]) -> LocalAccess {
        LocalAccess { place throws(InletError) in
            guard let content = contents[place] else { throw InletError(.notFound, "Nothing at \(place).") }
            return Array(content.utf8)
        }
    }

    private func values(
        _ uri: String, _ access: LocalAccess = .denied, others: Bool = true
    ) throws -> PluginOptionValues {
        try PluginOptionValues(PluginURI(uri), declared: Self.declared, allowsOthers: others, access: access)
    }

    @Test("A secret comes from the URI, from a file or from the environment")
    func forms() throws {
        let access = Self.access([.file("/run/t a"): "from file\n", .variable("T"): "from environment"])
        #expect(try values("http://h?token=plain", access)[Self.token] == "plain")
        #expect(try values("http://h?token-file=/run/t%20a", access)[Self.token] == "from file")
        #expect(try values("http://h?token-env=T", access)[Self.token] == "from environment")
        #expect(try values("http://h", access)[Self.token] == nil)
    }

    @Test(
        "One line ending after a secret is removed, LF or CR LF, and nothing else",
        arguments: [
            ("a", "a"), ("a\n", "a"), ("a\r\n", "a"), (" a ", " a "), ("päß\r\n", "päß"), ("a b", "a b"),
            ("\u{301}a\n", "\u{301}a"),
        ])
    func lineEnding(content: String, secret: String) throws {
        let access = Self.access([.file("f"): content, .variable("V"): content])
        for form in ["token-file=f", "token-env=V"] {
            let found = try #require(try values("http://h?\(form)", access)[Self.token])
            #expect(Array(found.utf8) == Array(secret.utf8))
        }
    }

    @Test(
        "A secret that is not a single line of text is refused, and is not quoted",
        arguments: [
            ("", "is empty"), ("\n", "is empty"), ("\r\n", "is empty"), ("hunter2\nhunter3", "not one line"),
            ("hunter2\r", "not one line"), ("hunter2\n\n", "not one line"), ("hunter2\0", "not one line"),
            ("hunter2\u{7f}", "not one line"), (String(repeating: "hunter2", count: 2341), "too long"),
        ])
    func refusesContent(content: String, words: String) {
        let error = #expect(throws: InletError.self) {
            try values("http://h?token-file=f", Self.access([.file("f"): content]))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.message.contains(words) == true && error?.message.contains("'f'") == true, "\(error?.message ?? "")")
        #expect(error.map { "\($0)" }?.contains("hunter") == false)
    }

    @Test("Bytes that are not UTF-8 are not a secret")
    func refusesBytes() {
        let access = LocalAccess { _ in [0x61, 0xff] }
        let error = #expect(throws: InletError.self) { try values("http://h?token-env=V", access) }
        #expect(error?.message.contains("not one line of UTF-8 text") == true)
    }

    @Test("Without permission, a URI reads neither files nor the environment, nor makes a plug-in read one")
    func denied() {
        for option in [
            "token-file=/etc/passwd", "token-env=HOME", "ca=/etc/passwd", "query.token-file=/etc/passwd",
            "query.any-env=HOME",
        ] {
            let error = #expect(throws: InletError.self) { try values("http://h?\(option)") }
            #expect(error?.code == .invalidConfiguration)
            let name = option.prefix { $0 != "=" }
            #expect(error?.message.contains("The option '\(name)' is refused") == true, "\(error?.message ?? "")")
        }
        #expect(throws: Never.self) { try values("http://h?token=plain&user=me") }
    }

    @Test("A secret in two forms counts as given twice")
    func twice() {
        let access = Self.access([.file("f"): "a"])
        for options in ["token=a&token-file=f", "token-file=f&token=a", "token-file=f&token-file=f"] {
            let error = #expect(throws: InletError.self) { try values("http://h?\(options)", access) }
            #expect(error?.message == "The option 'token' is given twice.")
        }
    }

    @Test("Other options have no secret forms, and a name that ends like one is unknown")
    func otherOptions() {
        for option in ["user-file=f", "user-env=V", "toke-file=f"] {
            let error = #expect(throws: InletError.self) {
                try values("http://h?\(option)", Self.access([.file("f"): "a", .variable("V"): "a"]), others: false)
            }
            #expect(error?.message.contains("has no option") == true)
        }
        let near = #expect(throws: InletError.self) { try values("http://h?tokn-file=f", others: false) }
        #expect(near?.message.contains("Did you mean 'token-file'?") == true)
    }

    @Test("An option of one scheme belongs to the server with another scheme")
    func schemes() throws {
        #expect(try values("srt://h?passphrase=a")[Self.passphrase] == "a")
        let other = try values("http://h?passphrase=a")
        #expect(other[Self.passphrase] == nil)
        #expect(other.others.map(\.name) == ["passphrase"])
    }

    @Test("A server's own parameter may come from a file or the environment, escaped as an address requires")
    func parameters() throws {
        let access = Self.access([.file("f"): "a+b&c=d/é?#%\n", .variable("V"): "x y"])
        let values = try values(
            "http://h/p?a=1+2&query.token-file=f&main&query.user=me&query.key-env=V&b=%2f", access)
        #expect(
            PluginURI.address("http://h/p", values.others)
                == "http://h/p?a=1+2&token=a%2Bb%26c%3Dd%2F%C3%A9%3F%23%25&main&user=me&key=x%20y&b=%2f")
    }

    @Test(
        "An address gets its query unchanged, joined to an existing one",
        arguments: [
            ("rtmp://h/a/k", "rtmp://h/a/k?x=%41+b"), ("rtmp://h/a/k?y=1", "rtmp://h/a/k?y=1&x=%41+b"),
            ("rtsp://u:a?b@h/", "rtsp://u:a?b@h/?x=%41+b"),
        ])
    func query(address: String, expected: String) throws {
        #expect(PluginURI.address(address, try PluginURI("http://h?x=%41+b").options) == expected)
    }

    @Test("The builder of a registry decides what it reads, and no error shows a secret")
    func registry() throws {
        var registry = PluginRegistry()
        let info = PluginInfo(
            name: "Net", schemes: ["net"], summary: "", usage: "", options: Self.declared, examples: [],
            takesOtherOptions: true)
        registry.register(
            SourcePlugin(info) { _, values in
                throw InletError(.unsupported, values[Self.token] == "hunter2" ? "Got it." : "Did not.")
            })
        let uri = "net://me:hunter2@h/p?token-file=f&user=me&jwt=hunter2"
        let denied = #expect(throws: InletError.self) { try registry.source(uri) }
        #expect(denied?.message.contains("PluginRegistry.localAccess") == true)
        registry.localAccess = Self.access([.file("f"): "hunter2"])
        let allowed = #expect(throws: InletError.self) { try registry.source(uri) }
        #expect(allowed.map { "\($0)" } == "net://***@h/p?token-file=f&user=me&jwt=***: Got it.")
    }
}

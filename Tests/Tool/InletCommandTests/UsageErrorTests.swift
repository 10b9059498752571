import Testing

@testable import InletCommand

@Suite struct UsageErrorTests {
    @Test(
        "The command that was probably meant is named",
        arguments: [("exlpain", "explain"), ("sevre", "serve"), ("snapshots", "snapshot"), ("plugin", "plugins")])
    func command(word: String, meant: String) {
        #expect(
            UsageError.text("Error: Unexpected argument '\(word)'", arguments: [word, "x"])
                == "error: There is no command '\(word)'. Did you mean '\(meant)'? 'inlet --help' lists all commands.")
    }

    @Test("A word that is near no command gets no suggestion, and control characters are not repeated")
    func noSuggestion() {
        #expect(
            UsageError.text("Error: Unexpected argument", arguments: ["rtsp://camera/main"])
                == "error: There is no command 'rtsp://camera/main'. To read a source, write 'inlet run SOURCE'.")
        #expect(
            UsageError.text("Error: Unexpected argument", arguments: ["zzzzzz"])
                == "error: There is no command 'zzzzzz'. 'inlet --help' lists all commands.")
        #expect(!UsageError.text("Error: x", arguments: ["\u{1B}[2J"]).contains("\u{1B}"))
    }

    @Test("A password in the first argument is hidden, however long it is", arguments: [1, 70, 80, 500])
    func password(length: Int) {
        let password = String(repeating: "p", count: length)
        for address in ["rtsp://admin:\(password)@camera/main", "rtsp://camera/main?password=\(password)"] {
            let text = UsageError.text("Error: x", arguments: [address])
            #expect(!text.contains("admin") && !text.contains(password.prefix(8) + (length > 8 ? "" : "@")), "\(text)")
        }
    }

    @Test(
        "Other errors only begin like all errors of the command",
        arguments: [["run", "--fsp", "3"], ["--versoin"], ["help", "x"], []])
    func others(arguments: [String]) {
        #expect(
            UsageError.text("Error: Unknown option\nUsage: Error: x", arguments: arguments)
                == "error: Unknown option\nUsage: Error: x")
    }
}

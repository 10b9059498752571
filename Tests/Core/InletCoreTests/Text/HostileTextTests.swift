import Testing

@testable import InletCore

/// Options and addresses that Unicode interprets differently from their bytes.
@Suite struct HostileTextTests {
    @Test("Values are read by ASCII only")
    func values() {
        #expect(ImageSize(optionText: "640x\u{301}480") == nil)
        #expect(ImageSize(optionText: "640X480") == ImageSize(width: 640, height: 480))
        #expect(Rational(optionText: "29.\u{669}7") == nil)
        #expect(Rational(optionText: "30000/\u{301}1001") == nil)
        #expect(Duration(optionText: "5s\u{301}") == nil)
        #expect(Duration(optionText: "5ms") == .milliseconds(5))
        #expect(Bool(optionText: "\u{FF4F}n") == nil)
    }

    @Test("The part of an address keeps each of its bytes after query.")
    func addressNames() throws {
        let uri = try PluginURI("rtsp://host/x?query.%CC%81user=1&query.-file=2")
        #expect(uri.options.map { Array($0.addressName.utf8) } == ["\u{301}user", "-file"].map { Array($0.utf8) })
    }

    @Test("A path of an address begins with its slashes, whatever follows them")
    func slashes() throws {
        let uri = try PluginURI("udp://\u{301}host:1/a%2Fb")
        #expect(uri.rest.hasByteSuffix("a%2Fb"))
    }
}

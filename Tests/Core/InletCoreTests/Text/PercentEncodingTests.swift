import Foundation
import InletCore
import Testing

@Suite struct PercentEncodingTests {
    @Test(
        "Text is restored from its escapes byte for byte",
        arguments: ["", "a-b._~", "a b+&=?#/%", "é\u{301}🔑", "\n\r\0\u{7f}"])
    func roundTrip(text: String) {
        let encoded = PercentEncoding.encode(text)
        #expect(
            encoded
                == text.addingPercentEncoding(
                    withAllowedCharacters: .init(charactersIn: "-._~").union(
                        .alphanumerics.intersection(.init(charactersIn: "\u{0}"..."\u{7f}")))))
        #expect(Array(PercentEncoding.decode(encoded).utf8) == Array(text.utf8))
    }

    @Test(
        "Invalid escapes are kept unchanged",
        arguments: [("50%", "50%"), ("%4", "%4"), ("%zz%41", "%zzA"), ("%%41", "%A")])
    func lenient(text: String, decoded: String) {
        #expect(PercentEncoding.decode(text) == decoded)
    }

    @Test(
        "An address is escaped so that Foundation accepts it unchanged",
        arguments: [
            ("http://[::1]:8/a%2Fb?c=%2B+d&e={f|g}#h", "http://[::1]:8/a%2Fb?c=%2B+d&e=%7Bf%7Cg%7D#h"),
            ("http://h/50%/[a]?b=\"é\"&c=%c", "http://h/50%25/%5Ba%5D?b=%22%C3%A9%22&c=%25c"), ("http://h", "http://h"),
        ])
    func complete(address: String, expected: String) {
        #expect(PercentEncoding.complete(address: address) == expected)
        #expect(URL(string: expected, encodingInvalidCharacters: false)?.absoluteString == expected)
    }
}

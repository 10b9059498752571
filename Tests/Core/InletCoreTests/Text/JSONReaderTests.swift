import Testing

@testable import InletCore

@Suite struct JSONReaderTests {
    private func error(_ bytes: [UInt8]) -> InletError? {
        do throws(InletError) {
            _ = try JSONReader.read(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test("Values are read as they are written, each with its line")
    func values() throws {
        let value = try JSONReader.read(
            Array("{ \"a\": [1, -2.5e+3, true, null],\n\"b\\u00e9\\n\\ud83d\\ude00\": { } }\r\n".utf8))
        let members = try #require(value.members)
        #expect(members.map(\.key) == ["a", "bé\n😀"])
        #expect(members[0].value.elements?.map(\.number) == ["1", "-2.5e+3", nil, nil])
        #expect(members.map(\.value.line) == [1, 2])
    }

    static let hostile: [(text: String, words: String)] = [
        ("", "ends in the middle"), ("{", "key in quotation marks"), ("{\"a\":1", "comma"), ("[1 2]", "comma"),
        ("{\"a\":1,}", "key in quotation marks"), ("[1,]", "a value is expected"), ("{a:1}", "quotation marks"),
        ("{\"a\":1}{", "follows"), ("{\"a\":1,\"a\":2}", "twice"), ("{\"a\":1,\"\\u0061\":2}", "twice"),
        ("01", "leading zeros"), ("1.", "digit"), ("1e", "digit"), ("+1", "value is expected"), ("-", "digit"),
        (".5", "value is expected"), ("0x10", "leading zeros"), ("NaN", "value is expected"),
        ("tru", "value is expected"),
        (String(repeating: "9", count: 41), "longer"), ("\"a\tb\"", "control character"),
        ("\"a\nb\"", "control character"),
        ("\"a", "closing quotation mark"), ("\"a\\", "closing quotation mark"), ("\"\\x41\"", "backslash"),
        ("\"\\u12\"", "four hexadecimal"), ("\"\\ud800\"", "surrogate"), ("\"\\ud800\\u0041\"", "surrogate"),
        ("\"\\udc00\"", "surrogate"), ("\"\\u0000\"", "u0000"), ("// no", "value is expected"),
        (String(repeating: "[", count: 60_000), "nested deeper"),
        (String(repeating: "{\"a\":", count: 10_000), "nested deeper"),
        ("[" + String(repeating: "1,", count: 2000) + "1]", "too many elements"),
    ]

    @Test("Text that is not JSON, or over a limit, is refused with its line", arguments: hostile.indices)
    func refuses(_ index: Int) throws {
        let (text, words) = Self.hostile[index]
        let found = try #require(error(Array(text.utf8)))
        #expect(found.message.contains(words), "\(found.message)")
        #expect(found.message.hasPrefix("line 1: "))
    }

    @Test("Bytes that are not UTF-8, a zero byte and a byte order mark are refused")
    func encodings() {
        #expect(error([0x22, 0xFF, 0x22])?.message.contains("UTF-8") == true)
        #expect(error([0x22, 0xC0, 0x80, 0x22])?.message.contains("UTF-8") == true)
        #expect(error([0x22, 0xED, 0xA0, 0x80, 0x22])?.message.contains("UTF-8") == true)
        #expect(error([0x22, 0x00, 0x22])?.message.contains("control character") == true)
        #expect(error([0xEF, 0xBB, 0xBF, 0x7B, 0x7D])?.message.contains("byte order mark") == true)
        #expect(error([0xFF, 0xFE, 0x7B, 0x00])?.message.contains("value is expected") == true)
    }

    @Test("Keys that are equal in Unicode, but not in bytes, are two keys")
    func canonicallyEqualKeys() throws {
        let value = try JSONReader.read(Array("{\"e\\u0301\":1,\"\\u00e9\":2}".utf8))
        #expect(value.members?.count == 2)
    }
}

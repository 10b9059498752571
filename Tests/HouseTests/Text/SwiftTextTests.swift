import Testing

@Suite struct SwiftTextTests {
    @Test(
        "Comments and the contents of strings are not code",
        arguments: [
            ("a // unsafe", "a "),
            ("a /* try! */ b", "a  b"),
            ("let s = \"fatalError\"", "let s = \"\""),
            (#"f("a \" try! ", b)"#, #"f("", b)"#),
            (##"f(#"a " try! "#, b)"##, #"f("", b)"#),
            (#"f("\(g("try!"))", b)"#, #"f("", b)"#),
            ("f(\"\"\"\n  try! \"x\"\n  \"\"\", b)", "f(\"\n\n\", b)"),
            ("\"// no comment\" + c", "\"\" + c"),
            ("#if os(Linux)", "#if os(Linux)"),
        ])
    func code(text: String, expected: String) {
        #expect(SwiftText.code(of: text) == expected)
    }

    @Test("Lines keep their numbers")
    func lines() {
        let text = "a\n/* b\n c */ d\n\"\"\"\ne\n\"\"\"\nf"
        let lines = SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 7)
        #expect(lines[6] == "f")
    }

    @Test("Words are whole")
    func words() {
        #expect(
            SwiftText.words(of: "@unsafe func unsafely(_ a: B<C>)") == [
                "unsafe", "func", "unsafely", "_", "a", "B", "C",
            ])
    }
}

import Testing

@Suite struct UnsafeCodeRuleTests {
    private func messages(_ text: String) -> [String] {
        UnsafeCodeRule.check(HouseTree.File(path: "Plugins/X/A.swift", text: text)).map(\.message)
    }

    @Test("Each file with unsafe code states its reason above a declaration, and no other file does")
    func tree() throws {
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        #expect(files.flatMap(UnsafeCodeRule.check) == [])
        #expect(files.count { $0.text.contains("// Unsafe: ") } > 100)
    }

    @Test(
        "Every kind of unsafe code is detected",
        arguments: [
            "let a = unsafe b.pointee", "nonisolated(unsafe) var a = 0", "@unsafe func f() {}",
            "func f(_ a: UnsafeRawPointer) {}", "var a: [UnsafeMutablePointer<Int8>?]", "func f() { unsafe\n g() }",
            "final class A: @unchecked Sendable {}",
        ])
    func seen(text: String) {
        let file = HouseTree.File(path: "Plugins/X/A.swift", text: "\n" + text)
        #expect(UnsafeCodeRule.check(file).map(\.line) == [2])
        #expect(messages("// Unsafe: owns a descriptor.\n" + text) == [])
    }

    @Test(
        "A comment, string or similar word is not unsafe code",
        arguments: [
            "// unsafe", "let a = \"unsafe\"", "/// An ``UnsafeRawPointer``.", "let unsafely = 1", "@safe struct A {}",
        ])
    func notSeen(text: String) {
        #expect(UnsafeCodeRule.lines(in: text) == [])
        #expect(messages(text) == [])
    }

    @Test("The reason may be above documentation and attributes, in a condition, or at any of several owners")
    func places() {
        #expect(
            messages("// Unsafe: owns a descriptor.\n/// An owner.\n@safe\nfinal class A { var a = unsafe b }") == [])
        #expect(
            messages(
                "#if os(Linux)\n    // Unsafe: owns a descriptor.\n    @c @implementation\n    func a() { unsafe b() }\n#endif"
            ) == [])
        #expect(messages("struct A {}\n\n// Unsafe: reads a C string.\nextension A { var a: Int { unsafe b } }") == [])
    }

    @Test("A reason without unsafe code, without a sentence, or in the wrong place is reported")
    func wrong() {
        #expect(messages("// Unsafe: owns a descriptor.\nstruct A {}").count == 1)
        #expect(messages("// Unsafe: owner\nstruct A { var a = unsafe b }").count == 1)
        #expect(messages("// Unsafe:\nstruct A { var a = unsafe b }").count == 1)
        #expect(messages("struct A { var a = unsafe b }\n// Unsafe: owns a descriptor.").count == 1)
        #expect(messages("/// An owner.\n// Unsafe: owns a descriptor.\nstruct A { var a = unsafe b }").count == 1)
    }
}

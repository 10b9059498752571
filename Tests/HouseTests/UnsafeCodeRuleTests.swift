import Testing

@Suite struct UnsafeCodeRuleTests {
    @Test("Unsafe code stands only in the folders and files listed, and each of them has some")
    func tree() throws {
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        #expect(UnsafeCodeRule.check(files, allowed: UnsafeCodeRule.allowed) == [])
    }

    @Test("Everything on the list has its reason")
    func reasons() {
        #expect(UnsafeCodeRule.allowed.values.allSatisfy { $0.count > 10 })
    }

    @Test(
        "Every kind of unsafe code is seen",
        arguments: [
            "let a = unsafe b.pointee", "nonisolated(unsafe) var a = 0", "@unsafe func f() {}",
            "func f(_ a: UnsafeRawPointer) {}", "var a: [UnsafeMutablePointer<Int8>?]", "func f() { unsafe\n g() }",
            "final class A: @unchecked Sendable {}",
        ])
    func seen(text: String) {
        let file = HouseTree.File(path: "Plugins/X/A.swift", text: "\n" + text)
        #expect(UnsafeCodeRule.check([file], allowed: [:]).map(\.line) == [2])
        #expect(UnsafeCodeRule.check([file], allowed: [file.path: "an owner"]) == [])
    }

    @Test(
        "Talk of it is not",
        arguments: [
            "// unsafe", "let a = \"unsafe\"", "/// An ``UnsafeRawPointer``.", "let unsafely = 1", "@safe struct A {}",
        ])
    func notSeen(text: String) {
        #expect(UnsafeCodeRule.lines(in: text) == [])
    }

    @Test("A listed file without unsafe code, or without a file, is named")
    func rot() {
        let file = HouseTree.File(path: "Sources/A/A.swift", text: "let a = 1")
        let violations = UnsafeCodeRule.check(
            [file], allowed: ["Sources/A/A.swift": "was", "Sources/A/Gone.swift": "was"])
        #expect(violations.map(\.path) == ["Sources/A/A.swift", "Sources/A/Gone.swift"])
    }

    @Test("A folder stands for the files in it, but not for those of folders below")
    func folder() {
        let file = HouseTree.File(path: "Sources/A/A.swift", text: "unsafe f()")
        let other = HouseTree.File(path: "Sources/A/B.swift", text: "let a = 1")
        let below = HouseTree.File(path: "Sources/A/B/C.swift", text: "unsafe f()")
        let allowed = ["Sources/A/": "wraps a library in C"]
        #expect(UnsafeCodeRule.check([file, other], allowed: allowed) == [])
        #expect(UnsafeCodeRule.check([file, other, below], allowed: allowed).map(\.path) == ["Sources/A/B/C.swift"])
        let twice = ["Sources/A/": "wraps a library in C", "Sources/A/A.swift": "owns something"]
        #expect(UnsafeCodeRule.check([file, other], allowed: twice).map(\.path) == ["Sources/A/A.swift"])
    }

    @Test("A folder that is mostly safe, or holds nothing unsafe, is named")
    func folderRot() {
        let files = ["A", "B", "C"].map {
            HouseTree.File(path: "Sources/A/\($0).swift", text: $0 == "A" ? "unsafe f()" : "let a = 1")
        }
        let allowed = ["Sources/A/": "wraps a library in C"]
        #expect(UnsafeCodeRule.check(files, allowed: allowed).map(\.path) == ["Sources/A/"])
        #expect(UnsafeCodeRule.check(Array(files.dropFirst()), allowed: allowed).map(\.path) == ["Sources/A/"])
    }
}

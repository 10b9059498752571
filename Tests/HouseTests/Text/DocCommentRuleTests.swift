import Testing

@Suite struct DocCommentRuleTests {
    private func lines(_ text: String) -> [Int?] {
        DocCommentRule.check(HouseTree.File(path: "Sources/A/A.swift", text: text)).map(\.line)
    }

    @Test("Every public declaration in Sources and Plugins has a doc comment")
    func tree() throws {
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        #expect(files.flatMap(DocCommentRule.check) == [])
    }

    @Test(
        "A public declaration without a doc comment is reported",
        arguments: [
            "public struct A {", "public var a = 1", "open class A {", "@safe public final class A {",
            "public static func f() {}", "// Not a doc comment.\npublic func f() {}", "/// Far.\n\npublic func f() {}",
            "@discardableResult\npublic func f() -> Int { 1 }", "public init?(_ text: String) { nil }",
            "public subscript(i: Int) -> Int { i }", "public typealias A = Int", "public actor A {}",
            "@_lifetime(borrow self) public func f() {}", "static public let a = 1",
        ])
    func missing(text: String) {
        #expect(lines(text).count == 1)
    }

    @Test("A requirement of a public protocol without a doc comment is reported")
    func requirement() {
        let text = """
            /// A.
            public protocol A {
                var a: Int { get }
                /// B.
                func b()
                func c() throws
                static var d: Int { get }
            }
            protocol B {
                func e()
            }
            """
        #expect(lines(text) == [3, 6, 7])
    }

    @Test(
        "A doc comment counts through attributes",
        arguments: ["/// A.\npublic func f() {}", "/// A.\n@inlinable\n@discardableResult\npublic func f() {}"])
    func documented(text: String) {
        #expect(lines(text) == [])
    }

    @Test(
        "Declarations that are not public, and other lines, need none",
        arguments: [
            "func f() {}", "public import Logging", "public extension A {", "let a = \"public var b\"",
            "// public var b",
            "package struct A {}",
        ])
    func notPublic(text: String) {
        #expect(lines(text) == [])
    }

    @Test("Members that fulfil a named protocol need none; a member of a plain extension does")
    func witnesses() {
        #expect(lines("extension A: B {\n    public var c: Int { 1 }\n}") == [])
        #expect(lines("extension A: B where C: D {\n    public var c: Int { 1 }\n}") == [])
        #expect(lines("extension A where C: D {\n    public var c: Int { 1 }\n}") == [2])
        #expect(lines("extension A {\n    public var c: Int { 1 }\n}") == [2])
        #expect(lines("extension A: B {\n}\nextension A {\n    public var c: Int { 1 }\n}") == [4])
    }

    @Test("Well-known members need none")
    func known() {
        #expect(lines("public static func < (a: A, b: A) -> Bool { true }") == [])
        #expect(lines("public var description: String { \"\" }") == [])
        #expect(lines("public func hash(into hasher: inout Hasher) {}") == [])
        #expect(lines("public func hashes() {}").count == 1)
    }

    @Test("An initializer that only stores needs none; one that does more does")
    func initializers() {
        #expect(lines("public init() {}") == [])
        #expect(lines("public init(rawValue: UInt8) { self.rawValue = rawValue }") == [])
        #expect(
            lines(
                "    public init(\n        a: Int,\n        b: Int = 2\n    ) {\n        self.a = a\n        self.b = b\n    }"
            ) == [])
        #expect(lines("public init(a: Int) {\n    self.a = max(a, 1)\n}") == [1])
        #expect(lines("public init(a: Int) {\n    self.a = b\n}") == [1])
        #expect(lines("public init(a: Int) {\n    self.a = a\n    start()\n}") == [1])
    }
}

import InletServe
import Testing

struct CameraFilterTests {
    @Test(
        "A name is compared with each pattern, in which a star matches any characters, even none",
        arguments: [
            (["door"], "door", true), (["door"], "doors", false), (["door"], "doo", false), (["do*"], "door", true),
            (["do*"], "do", true), (["do*"], "yard", false), (["*-in"], "yard-in", true), (["*-in"], "in", false),
            (["a*b*c"], "aXbXbXc", true), (["a*b*c"], "acb", false), (["*"], "door", true), (["**"], "door", true),
            (["x", "y*"], "yard", true), ([], "door", false), (["a*a"], "a", false), (["*aab"], "aaab", true),
        ] as [([String], String, Bool)])
    func allows(_ patterns: [String], _ name: String, _ isAllowed: Bool) {
        #expect(CameraFilter(patterns: patterns).allows(name) == isAllowed)
        #expect(CameraFilter.all.allows(name))
    }

    @Test("A pattern with many stars is rejected quickly")
    func manyStars() {
        let pattern = String(repeating: "a*", count: 31)
        #expect(!CameraFilter(patterns: [pattern + "b"]).allows(String(repeating: "a", count: 63)))
    }

    @Test("A token lists its cameras in the configuration; a list that is empty, or has no names, is refused")
    func configuration() throws {
        func text(_ cameras: String) -> String {
            "server:\n  tokens:\n    me: {scope: view, env: TOKEN, cameras: \(cameras)}\ncameras: {a: pattern:smpte}\n"
        }
        let read = try ConfigurationReaderTests.read(text("[door, yard-*]"))
        #expect(read.server.tokens["me"]?.cameras == CameraFilter(patterns: ["door", "yard-*"]))
        #expect(try ConfigurationReaderTests.read(text("")).server.tokens["me"]?.cameras == .all)
        for (cameras, complaint) in [
            ("[]", "The list of cameras is empty. Remove cameras: to select all."),
            ("[Door]", "The value must be the name of a camera such as door, with * for any characters, not 'Door'."),
            ("[\"\"]", "The value must be the name of a camera such as door"),
        ] {
            let complaints = ConfigurationReaderTests.complaints(text(cameras))
            #expect(complaints.count == 1 && complaints[0].contains(complaint), "\(complaints)")
        }
    }
}

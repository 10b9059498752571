import Testing

@testable import InletCore

@Suite struct SpellingTests {
    @Test(
        "The nearest name is found for mistyped ones",
        arguments: [("sieze", "size"), ("SIZE", "size"), ("fsp", "fps"), ("framse", "frames"), ("pac", "pace")])
    func nearest(word: String, expected: String) {
        #expect(Spelling.nearest(to: word, among: ["size", "fps", "frames", "pace", "seed"]) == expected)
    }

    @Test("A name with the same letters is preferred to others at the same distance", arguments: ["rtmps", "rtps2"])
    func sameLetters(other: String) {
        #expect(Spelling.nearest(to: "rtps", among: [other, "rtsp"]) == "rtsp")
    }

    @Test("Nothing is suggested if nothing is near", arguments: ["bitrate", "zzzz", ""])
    func nothingNear(word: String) {
        #expect(Spelling.nearest(to: word, among: ["size", "fps"]) == nil)
    }

    @Test("Nothing is suggested among no names")
    func noNames() {
        #expect(Spelling.nearest(to: "size", among: []) == nil)
    }

    @Test(
        "The distance counts letters added, removed, changed and swapped",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1),
            ("kitten", "sitting", 3), ("é", "e", 1),
        ])
    func distance(left: String, right: String, expected: Int) {
        #expect(Spelling.distance(left, right) == expected)
        #expect(Spelling.distance(right, left) == expected)
    }
}

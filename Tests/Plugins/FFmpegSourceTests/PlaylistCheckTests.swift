import Testing

@testable import FFmpegSource

@Suite struct PlaylistCheckTests {
    private func accepts(_ text: String) -> Bool { PlaylistCheck.accept(Array(text.utf8), base: nil) != nil }

    @Test(
        "A playlist with segments, or with variants, is accepted unchanged, with any line endings",
        arguments: ["\n", "\r\n", "\r", "\n\n \t\n"])
    func good(end: String) {
        for lines in [
            ["#EXTM3U", "#EXTINF:2,title", "a.ts", "#EXT-X-ENDLIST"],
            ["#EXTM3U", "#EXT-X-STREAM-INF:BANDWIDTH=1", "a.m3u8"],
        ] {
            let bytes = Array(lines.joined(separator: end).utf8)
            #expect(PlaylistCheck.accept(bytes, base: nil) == bytes)
        }
    }

    @Test("Text that is not UTF-8 is no reason to refuse a playlist")
    func latin() {
        let bytes = Array("#EXTM3U\n#EXTINF:2,".utf8) + [0xE9] + Array("\na.ts\n".utf8)
        #expect(PlaylistCheck.accept(bytes, base: nil) == bytes)
        #expect(
            PlaylistCheck.accept(bytes, base: "http://host/x/y.m3u8") == Array(bytes.dropLast(5))
                + Array("http://host/x/a.ts\n".utf8))
    }

    @Test(
        "A playlist in which libavformat finds no segment is refused, however it reads as text",
        arguments: [
            // Line endings in Unicode text, but not in a playlist.
            "#EXTM3U\n#EXTINF:2,\u{2028}a.ts\n", "#EXTM3U\n#EXTINF:2,\u{2029}a.ts\n", "#EXTM3U\n#EXTINF:2,\u{85}a.ts\n",
            "#EXTM3U\n#EXTINF:2,\u{B}a.ts\n", "#EXTM3U\n#EXTINF:2,\u{C}a.ts\n",
            // A tag with an accent on its first character, or after a space, is not a tag.
            "#EXTM3U\n#\u{301}EXTINF:2,\na.ts\n", "#EXTM3U\n #EXTINF:2,\na.ts\n", "#EXTM3U\n#EXTINF\u{37E}2,\na.ts\n",
            // An empty playlist, nothing after the tag, nothing with a tag.
            "#EXTM3U\n", "#EXTM3U\n#EXTINF:2,\n", "#EXTM3U\na.ts\n", "",
            // Both kinds, also for one address.
            "#EXTM3U\n#EXTINF:2,\na.ts\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb.m3u8\n",
            "#EXTM3U\n#EXTINF:2,\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb.m3u8\n",
            "#EXTM3U\n#EXTINF:2,\na\0.ts\n", "#EXTM3X\n#EXTINF:2,\na.ts\n",
        ])
    func bad(text: String) {
        #expect(!accepts(text))
    }

    @Test("A line or a playlist that is too long is refused")
    func tooLong() {
        func playlist(_ name: Int) -> String { "#EXTM3U\n#EXTINF:2,\n" + String(repeating: "a", count: name) + "\n" }
        #expect(accepts(playlist(4000)))
        #expect(!accepts(playlist(4001)))
        #expect(!accepts(String(repeating: playlist(1000), count: 1 << 12) + String(repeating: "#", count: 4 << 20)))
    }

    @Test("Addresses are resolved against the address to which redirects have led")
    func base() throws {
        let text =
            "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin\",IV=0x1\n#EXT-X-MAP:URI=\"http://other/init.mp4\"\n#EXTINF:2,\n../b.ts\n"
        let found = try #require(PlaylistCheck.accept(Array(text.utf8), base: "http://host/x/y/list.m3u8"))
        #expect(
            String(decoding: found, as: UTF8.self)
                == "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"http://host/x/y/key.bin\",IV=0x1\n#EXT-X-MAP:URI=\"http://other/init.mp4\"\n#EXTINF:2,\nhttp://host/x/b.ts\n"
        )
    }
}

import InletCore
import Testing

@testable import FFmpegSink

@Suite struct MediaPlaylistTests {
    private func segment(_ number: Int, _ seconds: Double = 2, map: String? = nil) -> MediaPlaylist.Segment {
        MediaPlaylist.Segment(
            name: SegmentName(map == nil ? .transport : .fragment, number).text, length: .seconds(seconds), map: map)
    }

    @Test("A playlist is read as it was written")
    func roundTrip() {
        var playlist = MediaPlaylist(firstNumber: 7, mostListed: 3)
        for number in 0..<5 {
            var segment = segment(
                1_000_000_100 + number, 1.999_5, map: number < 4 ? "index1000000001.mp4" : "index1000000002.mp4")
            segment.isDiscontinuity = [0, 4].contains(number)
            segment.start = number == 3 ? "2026-01-02T03:04:05.678Z" : nil
            playlist.add(segment, shortestTarget: 2)
        }
        let read = MediaPlaylist(text: playlist.text(hasEnded: true), mostListed: 3)
        #expect(read?.segments == playlist.segments)
        #expect(read?.firstNumber == 9 && read?.target == 2)
        #expect(read?.text(hasEnded: false) == playlist.text(hasEnded: false))
        #expect(playlist.text(hasEnded: false).contains("#EXT-X-DISCONTINUITY-SEQUENCE:1\n"))
    }

    @Test("Files are needed as long as a player may request them")
    func unneeded() {
        var playlist = MediaPlaylist(firstNumber: 0, mostListed: 2)
        var gone: [String] = []
        for number in 0..<8 {
            playlist.add(
                segment(1_000_000_010 + number, map: number < 2 ? "index1000000001.mp4" : "index1000000002.mp4"),
                shortestTarget: 2)
            gone += playlist.takeUnneeded(map: "index1000000002.mp4")
        }
        #expect(gone == ["index1000000010.m4s", "index1000000011.m4s", "index1000000001.mp4", "index1000000012.m4s"])
        #expect(playlist.segments.map(\.name) == ["index1000000016.m4s", "index1000000017.m4s"])
        #expect(playlist.late.map(\.name) == ["index1000000013.m4s", "index1000000014.m4s", "index1000000015.m4s"])
        #expect(playlist.firstNumber == 6)
    }

    @Test("The target duration is kept although segments are shorter or longer within rounding")
    func target() {
        var playlist = MediaPlaylist(firstNumber: 0, mostListed: 0)
        for seconds in [2.4, 0.2, 2.49] { playlist.add(segment(1_000_000_001, seconds), shortestTarget: 2) }
        #expect(playlist.target == 2)
        #expect(playlist.longest == .milliseconds(2490))
    }

    @Test(
        "A playlist of another program is not read",
        arguments: [
            "", "#EXTM3U\n# Written by Inlet.\n#EXTINF:1,\nmine.ts\n",
            "#EXTM3U\n# Written by Inlet.\n#EXT-X-TARGETDURATION:2\nindex1000000001.ts\n",
            "#EXTM3U\n# Written by Inlet.\n#EXT-X-TARGETDURATION:2\n#EXTINF:x,\nindex1000000001.ts\n",
            "#EXTM3U\n# Written by Inlet.\n#EXTINF:1,\nindex1000000001.ts\n",
            "#EXTM3U\n# Written by Inlet.\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n../index1000000001.ts\n",
            "#EXTM3U\n# Written by Inlet.\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"/etc/passwd\"\n#EXTINF:1,\nindex1000000001.m4s\n",
            "#EXTM3U\n# Written by Inlet.\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\nindex99999999999999999999.ts\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\nindex1000000001.ts\n",
            "#EXTM3U\n# Written by Inlet.\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\nindex1.ts\n",
        ])
    func foreign(_ text: String) {
        #expect(MediaPlaylist(text: text, mostListed: 6) == nil)
    }
}

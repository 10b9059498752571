#if GStreamer
import ReferenceTools
import Testing

/// Colours displayed by Chromium, compared with ffmpeg's colour bars: a small picture with the BT.601 matrix, and a
/// large one with BT.709.
@Suite(.tags(.rtcPeer)) struct ViewerColorTests {
    private struct Figure: Decodable {
        var name: String
        var value: Double
        var colors: Int
    }

    @Test(
        "Chromium shows the bars within six levels, in H.264 and VP8, small and large",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func bars() async throws {
        let figures: [Figure] = try await ViewerRun.peer(
            "whep-bench.py", python: "/usr/bin/python3",
            ["--inlet", BuiltProgram.inlet, "--only", "bars", "--codecs", "h264,vp8", "--json"])
        #expect(figures.count == 4)
        for figure in figures {
            #expect(figure.value <= 6, "\(figure.name)")
            #expect(figure.colors >= 7, "\(figure.name)")
        }
    }
}
#endif

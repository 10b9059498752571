#if GStreamer
import FFmpegSource
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Pictures from cameras of a real kernel, shown by a browser. The kernel runs in a virtual machine and sends its
/// pictures through a pipe.
@Suite(
    .tags(.chromium, .rtcPeer), .serialized,
    .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"),
    .enabled(if: VirtualCamera.missing == nil, "\(VirtualCamera.missing ?? "")"))
struct ViewerCameraTests {
    private struct Shown: Decodable {
        struct Bars: Decodable { var colors, points, most: Int }
        var size: String?
        var unread: Int
        var numbers: [Int]
        var bars: Bars?
        var state: String
    }

    private func look(_ camera: VirtualCamera, _ arguments: [String]) async throws -> Shown {
        var shown: Shown?
        try await ViewerRun.with(source: FFmpegFileConfiguration(path: camera.path)) { run in
            shown = try await ViewerRun.peer(
                "whep-browser.py", python: "/usr/bin/python3", [run.address + "/"] + arguments)
        }
        return try #require(shown)
    }

    @Test("The bars of the kernel's virtual camera are shown in the colours that v4l2-ctl and ffmpeg find")
    func colors() async throws {
        let folder = try TemporaryFolder()
        let exchange = folder.path("exchange")
        try FileManager.default.createDirectory(atPath: exchange, withIntermediateDirectories: true)
        // A still picture without text.
        let camera = try await VirtualCamera(
            """
            v4l2-ctl -d /dev/video0 -i 0 -c osd_text_mode=2,horizontal_movement=3,vertical_movement=3 \
                --set-fmt-video width=640,height=360,pixelformat=YU12 --stream-mmap --stream-count 1 --stream-to \(exchange)/still.yuv >&2
            exec \(BuiltProgram.inlet) run 'v4l2:/dev/video0?format=YU12&size=640x360&fps=10' --to y4m:- --report none
            """, shared: exchange)
        let still = folder.path("still.rgb")
        try ReferenceCommand.ffmpeg([
            "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", "640x360", "-i", exchange + "/still.yuv", "-vf",
            "scale=in_color_matrix=bt601:in_range=limited:out_range=full:flags=accurate_rnd+full_chroma_int,format=rgb24",
            "-f", "rawvideo", still,
        ])
        let shown = try await look(camera, ["--bars", "--reference", still])
        #expect(shown.size == "640x360")
        #expect(shown.state == "live")
        let bars = try #require(shown.bars)
        #expect(bars.most <= 6)
        #expect(bars.colors >= 7)
    }

    @Test("The numbers of pictures from a kernel's device are read in the browser")
    func numbers() async throws {
        let folder = try TemporaryFolder()
        let camera = try await VirtualCamera(
            """
            \(BuiltProgram.inlet) run 'pattern:timecode?size=320x240&fps=10' --to v4l2:/dev/video40 --report none &
            # The device is a camera as soon as the first picture is written.
            until \(BuiltProgram.inlet) run v4l2:/dev/video40 --to y4m:- --report none; do sleep 0.2; done
            """, shared: folder.path(""))
        let shown = try await look(camera, [])
        #expect(shown.size == "320x240")
        #expect(shown.state == "live")
        #expect(shown.unread == 0)
        #expect(shown.numbers.count >= 20)
        #expect(shown.numbers == shown.numbers.sorted())
    }
}
#endif

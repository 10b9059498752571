import Foundation
import ReferenceTools
import Testing

extension NetworkTests {
    /// Cameras that send JPEGs with little regard to standards. The expected pictures are those that ffmpeg decodes
    /// from the files of the camera.
    @Suite struct JPEGCameraTests {
        /// The MD5s of the pictures that `inlet` delivers of a camera, and what it reports.
        private func play(
            _ camera: MJPEGScript, _ query: String = "", frames: Int
        ) throws -> (pictures: [String], inlet: InletProcess, report: Report) {
            let folder = try TemporaryFolder()
            let prefix = camera.url.hasPrefix("tcp:") ? "ffmpeg:" : ""
            let inlet = try InletProcess.run([
                "run", prefix + camera.url + query, "--retry", "never", "--frames", "\(frames)", "--queue", "lossless",
                "--report", "json", "--to", "framemd5:\(folder.path("sums"))",
            ])
            let sums = try? String(contentsOfFile: folder.path("sums"), encoding: .utf8)
            return (FrameSums.sums(of: sums ?? ""), inlet, try Report(inlet))
        }

        /// As many pictures of a camera as are wanted, from the first one on, without every third if those are cut.
        private func expected(_ camera: MJPEGScript, _ count: Int, areCut: Bool = false) throws -> [String] {
            let all = try DeliveredPictures.expected(camera.pictures)
            try #require(all.count == 12)
            let sent = (0..<2 * count).filter { !areCut || $0 % 3 != 2 }
            return sent.prefix(count).map { all[$0 % all.count] }
        }

        private static let cut: Set<MJPEGScript.Framing> = [.cut, .cutLength, .cutRaw]

        @Test(
            "Motion JPEG over HTTP plays whatever is between its pictures, and pictures that are cut are counted",
            arguments: MJPEGScript.Framing.allCases.filter { $0 != .nothing })
        func framing(_ framing: MJPEGScript.Framing) throws {
            let camera = try MJPEGScript(framing)
            let (pictures, inlet, report) = try play(camera, frames: 10)
            #expect(inlet.status == 0, "\(inlet.complaints)")
            let areCut = Self.cut.contains(framing)
            #expect(try pictures == expected(camera, 10, areCut: areCut))
            let lost = report.frames.dropped.values.reduce(0, +)
            // Before the tenth whole picture, and one more at most that was there by then.
            #expect(areCut ? (4...5).contains(lost) : lost == 0, "\(report.frames.dropped)")
        }

        @Test("A multipart stream without a JPEG is a typed error")
        func nothing() throws {
            let (pictures, inlet, report) = try play(try MJPEGScript(.nothing), frames: 1)
            #expect(pictures.isEmpty && report.error?.code == "malformedData", "\(inlet.complaints)")
        }

        @Test(
            "Motion JPEG over plain TCP plays, with and without parts, up to the end of the stream",
            arguments: [MJPEGScript.Framing.raw, .plain])
        func tcp(_ framing: MJPEGScript.Framing) throws {
            let camera = try MJPEGScript(framing, carrier: "tcp", end: 9)
            let (pictures, _, report) = try play(camera, frames: 20)
            #expect(try pictures == expected(camera, 9))
            #expect(report.error?.code == "streamEnded" && report.frames.dropped.isEmpty)
        }
    }
}

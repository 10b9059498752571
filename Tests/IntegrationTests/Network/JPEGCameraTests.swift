import Foundation
import ReferenceTools
import Testing

extension NetworkTests {
    /// Cameras that send JPEGs in non-standard ways. The expected pictures are those that ffmpeg decodes from the
    /// camera's files.
    @Suite struct JPEGCameraTests {
        /// The MD5s of the pictures that `inlet` delivers from a camera, and the run's report.
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

        /// The given number of the camera's pictures from the first one on, without every third if those are truncated.
        private func expected(_ camera: MJPEGScript, _ count: Int, areCut: Bool = false) throws -> [String] {
            let all = try DeliveredPictures.expected(camera.pictures)
            try #require(all.count == 12)
            let sent = (0..<2 * count).filter { !areCut || $0 % 3 != 2 }
            return sent.prefix(count).map { all[$0 % all.count] }
        }

        private static let cut: Set<MJPEGScript.Framing> = [.cut, .cutLength, .cutRaw]

        @Test(
            "Motion JPEG over HTTP plays with any bytes between the pictures, and truncated pictures are counted",
            arguments: MJPEGScript.Framing.allCases.filter { $0 != .nothing })
        func framing(_ framing: MJPEGScript.Framing) throws {
            let camera = try MJPEGScript(framing)
            let (pictures, inlet, report) = try play(camera, frames: 10)
            #expect(inlet.status == 0, "\(inlet.complaints)")
            let areCut = Self.cut.contains(framing)
            #expect(try pictures == expected(camera, 10, areCut: areCut))
            let lost = report.frames.dropped.values.reduce(0, +)
            // These come before the tenth complete picture. One more may have arrived by then.
            #expect(areCut ? (4...5).contains(lost) : lost == 0, "\(report.frames.dropped)")
        }

        @Test("A multipart stream without a JPEG is a typed error")
        func nothing() throws {
            let (pictures, inlet, report) = try play(try MJPEGScript(.nothing), frames: 1)
            #expect(pictures.isEmpty && report.error?.code == "malformedData", "\(inlet.complaints)")
        }

        @Test(
            "Motion JPEG over plain TCP plays to the end of the stream, with and without parts",
            arguments: [MJPEGScript.Framing.raw, .plain])
        func tcp(_ framing: MJPEGScript.Framing) throws {
            let camera = try MJPEGScript(framing, carrier: "tcp", end: 9)
            let (pictures, _, report) = try play(camera, frames: 20)
            #expect(try pictures == expected(camera, 9))
            #expect(report.error?.code == "streamEnded" && report.frames.dropped.isEmpty)
        }

        @Test(
            "A still picture is requested repeatedly, and delivered only if it has changed",
            arguments: MJPEGScript.Validators.allCases)
        func still(_ validators: MJPEGScript.Validators) throws {
            var still = MJPEGScript.Still()
            (still.change, still.validators) = (3, validators)
            let camera = try MJPEGScript(still)
            let (pictures, inlet, report) = try play(camera, "?every=50ms", frames: 7)
            #expect(inlet.status == 0 && report.frames.dropped.isEmpty, "\(inlet.complaints)")
            let isConditional = validators != .none
            let all = try expected(camera, 7)
            #expect(pictures == (isConditional ? all : (0..<7).map { all[$0 / 3] }))
            let requests = try camera.requests()
            for (number, request) in requests.enumerated() {
                #expect(request.status == (isConditional && number % 3 != 0 ? 304 : 200), "\(number)")
                #expect(request.isConditional == (isConditional && number > 0), "\(number)")
            }
        }

        @Test(
            "A still picture of unknown length is requested repeatedly, with any content type for JPEG",
            arguments: ["image/jpg", "image/pjpeg"])
        func unknownLength(_ type: String) throws {
            var still = MJPEGScript.Still()
            (still.statesLength, still.type) = (false, type)
            let camera = try MJPEGScript(still)
            let (pictures, inlet, _) = try play(camera, "?every=50ms", frames: 4)
            #expect(try pictures == expected(camera, 4), "\(inlet.complaints)")
        }

        @Test("Request intervals and unchanged pictures do not count towards a time limit")
        func patience() throws {
            var still = MJPEGScript.Still()
            (still.change, still.validators) = (4, .etag)
            let camera = try MJPEGScript(still)
            let (pictures, inlet, _) = try play(camera, "?every=700ms&read-timeout=500ms", frames: 2)
            #expect(try pictures == expected(camera, 2), "\(inlet.complaints)")
        }

        @Test("A web page instead of the still picture ends the source")
        func page() throws {
            var still = MJPEGScript.Still()
            still.pageAfter = 3
            let camera = try MJPEGScript(still)
            let (pictures, inlet, _) = try play(camera, "?every=50ms", frames: 9)
            #expect(inlet.status != 0 && inlet.status != 124, "\(inlet.complaints)")
            #expect(try pictures == expected(camera, 3), "\(inlet.complaints)")
        }

        @Test("A still picture is read once with every=0 or pace=none", arguments: ["?every=0", "?pace=none"])
        func once(_ query: String) throws {
            let camera = try MJPEGScript(MJPEGScript.Still())
            let (pictures, inlet, _) = try play(camera, query, frames: 5)
            #expect(try inlet.status == 0 && pictures == expected(camera, 1), "\(inlet.complaints)")
            #expect(try camera.requests().count == 1)
        }
    }
}

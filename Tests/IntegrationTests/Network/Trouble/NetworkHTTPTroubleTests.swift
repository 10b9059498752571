import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// HTTP servers that send less than requested, or responses that never end.
    @Suite struct NetworkHTTPTroubleTests {
        /// A server with a clip that needs several requests.
        private func server(_ kind: HostileServer.Kind, _ folder: TemporaryFolder) throws -> (HostileServer, String) {
            let path = folder.path("clip.ts")
            _ = try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25:duration=8", "-c:v", "libx264", "-g", "25", "-b:v",
                "1M", "-pix_fmt", "yuv420p", path,
            ])
            var options = HostileServer.Options()
            (options.kind, options.file) = (kind, path)
            return (try HostileServer(options), path)
        }

        @Test("If a server sends less of a range than requested, the rest is requested")
        func cappedRange() throws {
            let folder = try TemporaryFolder()
            let (server, path) = try server(.cappedRange, folder)
            let (found, inlet) = try DeliveredPictures.delivered("\(server.url("http", "/clip.ts"))?pace=none")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
        }

        @Test("A broken transfer continues at its position, whatever the server answers in between")
        func failingRest() throws {
            let folder = try TemporaryFolder()
            let (server, path) = try server(.failingRest, folder)
            let (found, inlet) = try DeliveredPictures.delivered(
                "\(server.url("http", "/clip.ts"))?pace=none&ffmpeg.reconnect=1")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
            // The server refuses once, then sends the whole file once, and then the rest.
            let requests = try server.report()["file"]?.int ?? 0
            #expect(requests >= 3, "\(requests)")
        }

        @Test("A redirect is followed once its head has arrived, even if its body never ends")
        func openRedirect() throws {
            let folder = try TemporaryFolder()
            let (server, path) = try server(.openRedirect, folder)
            let (found, inlet) = try DeliveredPictures.delivered("\(server.url("http", "/clip.ts"))?pace=none")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
        }

        @Test("Refused credentials are reported as such and tried once, even if the refusal never ends")
        func openRefusal() throws {
            let server = try HostileServer(.openRefusal)
            let inlet = try DeliveredPictures.delivered("\(server.url("http", "/clip.ts"))?user=viewer&password=other")
                .inlet
            #expect(inlet.status == 77, "\(inlet.complaints)")
            #expect(try server.report()["credentials"]?.int == 1)
        }

        /// An FLV file whose video tags state H.265, as codec number 12 or in the enhanced form ("hvc1"). ffmpeg 5.1
        /// writes neither.
        private func flvOfHEVC(isEnhanced: Bool, at path: String) throws {
            let plain = try [UInt8](
                ReferenceCommand.ffmpeg([
                    "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2", "-c:v", "libx264", "-f", "flv",
                    "-flvflags", "no_duration_filesize", "-",
                ]))
            var tags = Array(plain.prefix(13))
            var rest = plain.dropFirst(13)
            while rest.count > 15 {
                var header = Array(rest.prefix(11))
                let length = header[1...3].reduce(0) { $0 << 8 | Int($1) }
                var body = Array(rest.dropFirst(11).prefix(length))
                rest = rest.dropFirst(11 + length + 4)
                if header[0] == 9, isEnhanced {
                    // A coded picture keeps its composition time.
                    let payload = body.dropFirst(body[1] == 1 ? 2 : 5)
                    body = [0x80 | body[0] & 0x70 | body[1] & 0x0f] + Array("hvc1".utf8) + payload
                } else if header[0] == 9 {
                    body[0] = body[0] & 0xf0 | 12
                }
                header.replaceSubrange(1...3, with: [16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) })
                let size = UInt32(11 + body.count)
                tags += header + body + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
            }
            try Data(tags).write(to: URL(fileURLWithPath: path))
        }

        @Test(
            "H.265 in FLV, which libavformat 5.1 does not support, is reported without waiting",
            arguments: [false, true])
        func unknownCodec(isEnhanced: Bool) throws {
            let folder = try TemporaryFolder()
            let path = folder.path("clip.flv")
            try flvOfHEVC(isEnhanced: isEnhanced, at: path)
            var options = HostileServer.Options()
            (options.kind, options.file) = (.chunked, path)
            let server = try HostileServer(options)
            for address in [server.url("http", "/clip.flv"), path] {
                let inlet = try DeliveredPictures.delivered(address).inlet
                #expect(inlet.complaints.contains("In FLV that is usually H.265."), "\(inlet.complaints)")
                #expect(!inlet.complaints.contains("Trying again"), "\(inlet.complaints)")
            }
        }

        @Test("Byte ranges in a playlist that no file has are an error")
        func playlistRange() throws {
            let server = try HostileServer(.playlistRange)
            let inlet = try DeliveredPictures.delivered(server.url("http", "/live.m3u8")).inlet
            #expect((64...78).contains(inlet.status), "\(inlet.status) \(inlet.complaints)")
        }
    }
}

import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Servers of HTTP that give less than they were asked for, or never end what they say.
    @Suite struct NetworkHTTPTroubleTests {
        /// A server with a clip of several requests' length.
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

        @Test("A server that gives less of a part than it was asked for is asked for the rest")
        func cappedRange() throws {
            let folder = try TemporaryFolder()
            let (server, path) = try server(.cappedRange, folder)
            let (found, inlet) = try DeliveredPictures.delivered("\(server.url("http", "/clip.ts"))?pace=none")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
        }

        @Test("What breaks off goes on where it was, whatever else the server answers in between")
        func failingRest() throws {
            let folder = try TemporaryFolder()
            let (server, path) = try server(.failingRest, folder)
            let (found, inlet) = try DeliveredPictures.delivered(
                "\(server.url("http", "/clip.ts"))?pace=none&ffmpeg.reconnect=1")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
            // Refused once, once the whole, and then the rest.
            let requests = try server.report()["file"]?.int ?? 0
            #expect(requests >= 3, "\(requests)")
        }

        @Test("A redirect is followed when its head is there, though its body never ends")
        func openRedirect() throws {
            let folder = try TemporaryFolder()
            let (server, path) = try server(.openRedirect, folder)
            let (found, inlet) = try DeliveredPictures.delivered("\(server.url("http", "/clip.ts"))?pace=none")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
        }

        @Test("Credentials that are refused are told as such, and tried once, though the refusal never ends")
        func openRefusal() throws {
            let server = try HostileServer(.openRefusal)
            let inlet = try DeliveredPictures.delivered("\(server.url("http", "/clip.ts"))?user=viewer&password=other")
                .inlet
            #expect(inlet.status == 77, "\(inlet.complaints)")
            #expect(try server.report()["credentials"]?.int == 1)
        }

        @Test("Ranges in a playlist that no file has are an error")
        func playlistRange() throws {
            let server = try HostileServer(.playlistRange)
            let inlet = try DeliveredPictures.delivered(server.url("http", "/live.m3u8")).inlet
            #expect((64...78).contains(inlet.status), "\(inlet.status) \(inlet.complaints)")
        }
    }
}

import ReferenceTools
import Testing

extension PeerTests {
    @Suite(.serialized, .enabled(if: NginxServer.missing == nil, "\(NginxServer.missing ?? "")"))
    struct NginxServerTests {
        @Test("The file and its HLS stream have the pictures of the file")
        func pictures() throws {
            let path = try TestClips.path("h264-b.mp4")
            let server = try NginxServer.http(path)
            let sums = try Client.sums(path)
            #expect(try Client.sums(server.url) == sums)
            #expect(try Client.sums(server.playlist) == sums)
            #expect(try server.requests().contains { $0.contains("/hls/index.m3u8") && $0.contains(" 20") })
        }

        @Test("HTTPS is trusted only with its authority, and without the password the answer is 401")
        func https() throws {
            var options = NginxServer.Options(file: try TestClips.path("h264-b.mp4"))
            options.isTLS = true
            options.password = "secret"
            let server = try NginxServer(options)
            let authority = try #require(server.authority)
            let status = ["-s", "-o", "/dev/null", "-w", "%{http_code}", server.url]
            #expect(try Client.run("curl", ["--cacert", authority] + status).text == "401")
            #expect(try Client.run("curl", ["--cacert", authority, "-u", "camera:secret"] + status).text == "200")
            #expect(try Client.run("curl", status).status == 60)
        }

        @Test("Live HLS continues beyond the end of the file")
        func live() throws {
            var options = NginxServer.Options(file: try TestClips.path("h264-nob.mp4"))
            options.isLive = true
            let server = try NginxServer(options)
            #expect(try Client.sums(server.playlist, frames: 70).count == 70)
        }
    }

    @Suite(.serialized, .enabled(if: FFmpegSender.missing == nil, "\(FFmpegSender.missing ?? "")"))
    struct FFmpegSenderTests {
        @Test("Live pictures arrive readable", arguments: FFmpegSender.Carrier.allCases)
        func live(_ carrier: FFmpegSender.Carrier) throws {
            let sender = try FFmpegSender.live(carrier)
            let numbers = try Client.numbers(sender.url)
            // A UDP receiver joins in the middle of the stream, so its first pictures may be broken.
            if carrier == .udp {
                #expect(numbers.compactMap(\.self).count > 10)
            } else {
                expectTimecode(numbers)
            }
        }

        @Test("A file arrives with its pictures", arguments: [FFmpegSender.Carrier.srt, .rtmp])
        func file(_ carrier: FFmpegSender.Carrier) throws {
            let path = try TestClips.path("h264-nob.mp4")
            let sender = try FFmpegSender.loop(path, carrier)
            #expect(try Client.sums(sender.url, frames: 30) == Client.sums(path))
        }
    }

    @Suite(.serialized, .enabled(if: VLCServer.missing == nil, "\(VLCServer.missing ?? "")"))
    struct VLCServerTests {
        @Test("The pictures are those of the file")
        func pictures() throws {
            let path = try TestClips.path("h264-nob.mp4")
            let server = try VLCServer(file: path)
            // The first key frame may come after the client joins; from then on all pictures are whole.
            let known = Set(try Client.sums(path))
            let sums = try Client.sums(server.url, frames: 40)
            #expect(sums.suffix(15).allSatisfy(known.contains))
            #expect(sums.count == 40)
        }
    }

    @Suite(.serialized, .enabled(if: FFmpegSender.missing == nil, "\(FFmpegSender.missing ?? "")"))
    struct RTSPRelayTests {
        @Test("Each reader gets the pictures that ffmpeg published, from the first one")
        func pictures() throws {
            let path = try TestClips.path("h264-b.mp4")
            let server = try RTSPRelay(file: path)
            for _ in 0..<2 {
                #expect(try Client.sums(server.url, ["-rtsp_transport", "tcp"]) == Client.sums(path))
            }
        }
    }

    @Suite(.serialized, .enabled(if: MJPEGServer.missing == nil, "\(MJPEGServer.missing ?? "")"))
    struct MJPEGServerTests {
        @Test("The pictures are readable, with and without lengths", arguments: [true, false])
        func pictures(saysLength: Bool) throws {
            var options = MJPEGServer.Options()
            options.saysLength = saysLength
            options.password = "secret"
            let server = try MJPEGServer(options)
            #expect(try Client.run("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", server.url]).text == "401")
            expectTimecode(try Client.numbers(server.url.replacing("http://", with: "http://camera:secret@")))
        }
    }
}

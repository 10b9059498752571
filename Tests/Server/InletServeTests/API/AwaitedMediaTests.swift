import Foundation
import ReferenceTools
import Testing

@testable import InletServe

/// Clients of cameras that send nothing.
@Suite struct AwaitedMediaTests {
    @Test("A client waits until the next key frame is due, and the log reports how rare key frames are")
    func limits() {
        #expect(AwaitedMedia.picture.limit(nil) == .seconds(8) && AwaitedMedia.segment.limit(nil) == .seconds(20))
        #expect(AwaitedMedia.keyFrame.limit(.seconds(2)) == .seconds(8))
        #expect(AwaitedMedia.keyFrame.limit(.seconds(30)) == .seconds(32))
        #expect(AwaitedMedia.segment.limit(.seconds(30)) == .seconds(62))
        #expect(AwaitedMedia.segment.limit(.seconds(3600)) == AwaitedMedia.longestLimit)
        let often = AwaitedMedia.keyFrame.absence(within: .seconds(8), interval: .seconds(2))
        #expect(often == "The camera sent no key frame within 8 seconds.")
        let rare = AwaitedMedia.segment.absence(within: .seconds(62), interval: .seconds(30))
        #expect(rare.contains("no second key frame within 62 seconds") && rare.contains("30 seconds apart"))
    }
}

/// Clients of a camera that refuses connections, by curl.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 2)) struct AbsentCameraTests {
    @Test("Each kind of viewer gets the reason at once when the camera cannot be opened")
    func refused() async throws {
        let port = try FreePort.find()
        let serve = try await ServeProcess(
            "cameras:\n  door: \"rtsp://user:geheim@127.0.0.1:\(port)/door\"\n", tokens: false)
        for path in ["snapshot.jpg", "stream.mp4", "stream.m3u8"] {
            let (status, body) = try await serve.ask("GET", "/v1/cameras/door/\(path)", token: nil)
            let text = String(decoding: body, as: UTF8.self)
            #expect(status == 409, "\(path)")
            let isNamed = text.contains("127.0.0.1:\(port)") && text.contains("Nothing listens at the address")
            #expect(isNamed, "\(path): \(text)")
            #expect(!text.contains("seconds.") && !text.contains("geheim"), "\(path): \(text)")
        }
        #expect(await serve.end() == 0)
    }
}

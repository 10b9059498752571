import InletCore
import InletHTTPServer
import NIOCore
import NIOHTTP1

/// HTTP Live Streaming (RFC 8216).
extension ServeService: PlaylistViewer {
    private static let playlistType = "application/vnd.apple.mpegurl"

    func playlist(of name: String, _ request: HTTPRequest) -> HTTPStep {
        let isWhole = request.method == .GET
        // Players request segments without the playlist's query, and no URL in a playlist contains a token.
        cookie = connection?.cookieHeader(for: request)
        return later(
            within: Self.cameraLimit,
            { [daemon] in await daemon.streamedMedia(of: name) },
            then: { service, media in
                switch media {
                case .failure(let refusal): service.connection?.answer(refusal.answer)
                case .success where !isWhole:
                    service.connection?.answer(HTTPAnswer(headers: ["content-type": Self.playlistType]))
                case .success(let media): service.awaitPlaylist(of: media, name)
                }
            })
    }

    private func awaitPlaylist(of media: CameraMedia, _ name: String) {
        forget()
        let hub: SegmentHub
        do throws(InletError) {
            guard let found = try daemon.segments(of: media) else {
                connection?.answer(Self.tooMany)
                return
            }
            hub = found
        } catch {
            connection?.answer(Self.noStream(error))
            return
        }
        watching = .playlist(hub)
        if let playlist = hub.playlist() {
            take(playlist: .success(playlist))
            return
        }
        hub.add(self)
        // Sends the playlist or an error with the reason, whichever comes first.
        _ = untilAbsent(.segment, from: name)
    }

    func take(playlist: Result<String, InletError>) {
        guard case .playlist = watching else { return }
        watching = .nothing
        forget()
        switch playlist {
        case .success(let playlist):
            var answer = HTTPAnswer(type: Self.playlistType, body: ByteBuffer(string: playlist))
            if let cookie { answer.headers.add(name: "set-cookie", value: cookie) }
            connection?.answer(answer)
        case .failure(let error): connection?.answer(Self.noStream(error))
        }
    }

    func segment(_ file: String, of name: String) -> HTTPStep {
        later(
            { [daemon] in await daemon.camera(name)?.media },
            then: { service, media in
                service.forget()
                guard let media, let bytes = service.daemon.openSegments(of: media)?.bytes(of: file) else {
                    service.connection?.answer(
                        .problem(.notFound, "There is no such segment. The playlist lists the available ones."))
                    return
                }
                service.connection?.answer(HTTPAnswer(type: "video/mp4", body: bytes))
            })
    }
}

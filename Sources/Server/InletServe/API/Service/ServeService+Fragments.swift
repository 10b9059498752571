import InletCore
import InletHTTPServer
import NIOCore
import NIOHTTP1

/// Streams in fragmented MP4.
extension ServeService: FragmentViewer {
    func streamFragments(of name: String, _ request: HTTPRequest) -> HTTPStep {
        let isWhole = request.method == .GET
        return later(
            within: Self.cameraLimit,
            { [daemon] in await daemon.streamedMedia(of: name) },
            then: { service, media in
                switch media {
                case .failure(let refusal): service.connection?.answer(refusal.answer)
                case .success where !isWhole:
                    service.connection?.answer(HTTPAnswer(headers: ["content-type": "video/mp4"]))
                case .success(let media): service.begin(media, of: name)
                }
            })
    }

    private func begin(_ media: CameraMedia, of name: String) {
        forget()
        guard daemon.streams.begin() else {
            connection?.answer(Self.tooMany)
            return
        }
        let hub = daemon.fragments(of: media)
        watching = .fragments(hub)
        fragments = FragmentQueue()
        // Sends the stream or an error with the reason, whichever comes first.
        _ = untilAbsent(.keyFrame, from: name)
        do throws(InletError) {
            try hub.add(self)
        } catch {
            abandon()
            connection?.answer(Self.noStream(error))
        }
    }

    func take(_ piece: FragmentQueue.Piece) {
        guard case .fragments = watching else { return }
        fragments.add(piece)
        sendFragments()
    }

    /// Sends the next pieces if none is being sent. Pieces that arrive in the meantime wait, and are skipped if there
    /// are too many.
    func sendFragments() {
        guard !isSending else { return }
        let isFirst = !fragments.hasBegun
        let parts = fragments.take()
        guard !parts.isEmpty else { return }
        if isFirst {
            forget()
            connection?.beginStream(["content-type": "video/mp4"])
        }
        isSending = true
        connection?.send(parts)
    }

    func endFragments(_ error: InletError?) {
        guard case .fragments = watching else { return }
        watching = .nothing
        daemon.streams.end()
        guard !fragments.hasBegun else {
            connection?.endStream()
            return
        }
        forget()
        connection?.answer(
            Self.noStream(error ?? InletError(.disconnected, "The camera's packets ended before the first key frame.")))
    }

    /// Returns the response with the reason why there is no packet stream.
    static func noStream(_ error: InletError) -> HTTPAnswer {
        switch error.code {
        case .unsupported:
            return .problem(
                .unprocessableEntity,
                "MP4 does not support the camera's codec, only H.264, HEVC, AV1 and VP9. Use stream.mjpeg instead.")
        case .resourceExhausted:
            var answer = HTTPAnswer.problem(.serviceUnavailable, error.message)
            answer.headers.add(name: "retry-after", value: "5")
            return answer
        case .notFound: return .problem(.notFound, error.message)
        // The camera is at fault and not the daemon, so the status is below 500.
        default: return .problem(.conflict, error.message)
        }
    }
}

extension ServeResponder {
    /// Returns the packets of a camera for a new viewer, or the reason why the camera cannot be watched.
    func streamedMedia(of name: String) async -> Result<CameraMedia, Refusal> {
        guard let camera = await camera(name) else { return .failure(Refusal(answer: .noCamera(name))) }
        do throws(InletError) {
            try await camera.needPackets()
            return .success(camera.media)
        } catch {
            return .failure(Refusal(answer: .refusal(error)))
        }
    }
}

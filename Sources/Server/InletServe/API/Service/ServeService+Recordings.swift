import InletHTTPServer
import NIOCore
import NIOHTTP1

/// The list of recordings, and downloads.
extension ServeService {
    /// Lists recordings of a camera.
    func recordings(of name: String, _ request: HTTPRequest) -> HTTPStep {
        do throws(RecordingListQuery.Mistake) {
            let query = try RecordingListQuery(request)
            return later { [daemon] in await daemon.recordings(name, query) }
        } catch {
            return .answer(.problem(.badRequest, error.text))
        }
    }

    /// Sends a recording or a range of its bytes.
    func download(_ file: String, of name: String, _ request: HTTPRequest) -> HTTPStep {
        guard daemon.streams.begin() else { return .answer(Self.tooMany) }
        let download = FileDownload(daemon.loop)
        watching = .download(download)
        let isGET = request.method == .GET
        // A range applies only to GET (RFC 9110, 14.2). A range with If-Range needs a validator of the file's version,
        // and these responses have none (13.1.5).
        let wanted = isGET && request.header("if-range") == nil ? request.header("range") : nil
        return later(
            { [daemon] in await daemon.openRecording(file, of: name) },
            then: { service, opened in
                switch opened {
                case .failure(let refusal):
                    service.abandon()
                    service.connection?.answer(refusal.answer)
                case .success((let reader, let lane)):
                    let size = reader.byteCount
                    var (range, status) = (0..<size, HTTPResponseStatus.ok)
                    var headers: HTTPHeaders = [
                        "content-type": "video/mp4", "accept-ranges": "bytes",
                        "content-disposition": "inline; filename=\"\(name)-\(file)\"",
                    ]
                    switch ByteRange(wanted, of: size) {
                    case .whole: break
                    case .part(let part):
                        (range, status) = (part, .partialContent)
                        headers.add(
                            name: "content-range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
                    case .unsatisfiable:
                        service.abandon()
                        var answer = HTTPAnswer.problem(.rangeNotSatisfiable, "The recording has \(size) bytes.")
                        answer.headers.add(name: "content-range", value: "bytes */\(size)")
                        service.connection?.answer(answer)
                        return
                    }
                    headers.add(name: "content-length", value: "\(range.count)")
                    guard isGET, size > 0 else {
                        service.abandon()
                        service.connection?.answer(HTTPAnswer(headers: headers))
                        return
                    }
                    service.forget()
                    service.connection?.beginStream(headers, status: status)
                    download.begin(
                        reader, on: lane, range, send: { [weak service] in service?.connection?.send([$0]) },
                        end: { [weak service] in service?.connection?.endStream() })
                }
            })
    }
}

import InletCore
import InletHTTP
import InletSystem
import NIOHTTP1

/// Answers about recordings.
extension ServeResponder {
    /// The longest time that a request may ask for.
    private static let longestSeconds = 86_400.0

    /// Begins a recording, or makes the one that is under way longer.
    func record(_ name: String, _ body: JSONValue, isTrial: Bool) async -> HTTPAnswer {
        guard let members = body.members, members.allSatisfy({ $0.key.isSameBytes(as: "seconds") }) else {
            return .problem(.unprocessableEntity, "The body is {} or {\"seconds\": SECONDS}.")
        }
        var time: Duration?
        if let value = body["seconds"] {
            guard let seconds = value.number.flatMap({ Double($0) }), seconds > 0, seconds <= Self.longestSeconds else {
                return .problem(.unprocessableEntity, "seconds is a number above 0, up to \(Int(Self.longestSeconds)).")
            }
            time = .nanoseconds(Int64(seconds * 1e9))
        }
        guard let camera = await camera(name) else { return .noCamera(name) }
        do throws(InletError) {
            if isTrial {
                _ = try await camera.recordings
                try await camera.needPackets(isTrial: true)
                return .changes([(name, "recorded")], isTrial: true)
            }
            let ticket = try await camera.record(for: time, cause: "api")
            let left = ticket.end - MonotonicTime.now
            return .json(
                .object([
                    ("name", ticket.name.map { .text($0) } ?? .null),
                    ("until", .text(WallTime.text(WallTime.now.adding(saturating: left.wholeNanoseconds)))),
                ]), .accepted)
        } catch {
            return .refusal(error)
        }
    }

    /// Ends the recording that is under way.
    func endRecording(_ name: String, isTrial: Bool) async -> HTTPAnswer {
        guard let camera = await camera(name) else { return .noCamera(name) }
        guard let ticket = isTrial ? camera.recorder.ticket : await camera.recorder.stop() else {
            return .problem(.conflict, "The camera is not recorded on request now.")
        }
        guard !isTrial else { return .changes([(name, "recording-ended")], isTrial: true) }
        return .json(.object([("recordings", .list(ticket.names.map(JSONValue.text)))]))
    }

    /// Lists the recordings of a camera.
    func recordings(_ name: String) async -> HTTPAnswer {
        guard let camera = await camera(name) else { return .noCamera(name) }
        do throws(InletError) {
            let folder = try await camera.recordings
            let current = camera.recorder.ticket?.name
            let list = folder.files.map { file in Self.json(file, folder.note(of: file.name), current: current) }
            return .json(.object([("recordings", .list(list))]))
        } catch {
            return .refusal(error)
        }
    }

    private static func json(_ file: RecordingFolder.File, _ note: JSONValue?, current: String?) -> JSONValue {
        let length = note?["length"] ?? .null
        let isCurrent = file.name == current
        let hasEnded = length.number != nil
        let state = isCurrent ? "recording" : hasEnded ? "complete" : "interrupted"
        return .object(
            [
                ("name", .text(file.name)), ("bytes", .number(file.byteCount)), ("state", .text(state)),
                ("start", note?["start"] ?? .text(WallTime.text(file.began))), ("length", length),
                ("gaps", note?["gaps"] ?? .list([])), ("moreGaps", note?["moreGaps"] ?? .number(0)),
            ] + ["cause", "asked", "failure"].map { ($0, note?[$0] ?? .null) })
    }

    /// Deletes a recording.
    func deleteRecording(_ file: String, of name: String, isTrial: Bool) async -> HTTPAnswer {
        guard let camera = await camera(name) else { return .noCamera(name) }
        do throws(InletError) {
            let folder = try await camera.recordings
            guard folder.file(file) != nil else { return Self.noRecording }
            guard camera.recorder.ticket?.name != file else {
                return .problem(.conflict, "The recording is being written. DELETE /v1/cameras/\(name)/record ends it.")
            }
            guard !isTrial else { return .changes([(name, "recording-deleted")], isTrial: true) }
            try folder.delete(file)
            return HTTPAnswer(.noContent)
        } catch {
            return .refusal(error)
        }
    }

    /// Opens a recording.
    ///
    /// - Returns: what reads it, or why it cannot be read.
    func openRecording(_ file: String, of name: String) async -> Result<RecordingReader, Refusal> {
        guard let camera = await camera(name) else { return .failure(Refusal(answer: .noCamera(name))) }
        do throws(InletError) {
            let folder = try await camera.recordings
            guard let found = folder.file(file) else { return .failure(Refusal(answer: Self.noRecording)) }
            return .success(try RecordingReader("\(folder.path)/\(found.name)"))
        } catch {
            return .failure(Refusal(answer: .refusal(error)))
        }
    }

    /// Why something is not handed out.
    struct Refusal: Error {
        var answer: HTTPAnswer
    }

    private static var noRecording: HTTPAnswer { .problem(.notFound, "There is no such recording.") }
}

extension HTTPAnswer {
    /// Returns the response that says why something could not be done with a camera. A fault of a camera or a disk is
    /// none of the daemon: no status but 507 is from 500 on.
    static func refusal(_ error: InletError) -> HTTPAnswer {
        switch error.code {
        case .unsupported: .problem(.unprocessableEntity, error.message)
        case .notFound: .problem(.notFound, error.message)
        case .inputOutput, .resourceExhausted: .problem(.insufficientStorage, error.description)
        default: .problem(.conflict, error.message)
        }
    }
}

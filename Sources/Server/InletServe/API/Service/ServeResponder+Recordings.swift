import InletCore
import InletHTTPServer
import InletSystem
import NIOHTTP1

/// Answers requests for recordings.
extension ServeResponder {
    /// The longest time that a request may ask for.
    private static let longestSeconds = 86_400.0

    /// Starts a recording, or extends the current one.
    func record(_ name: String, _ body: JSONValue, isTrial: Bool) async -> HTTPAnswer {
        guard let members = body.members, members.allSatisfy({ $0.key.isSameBytes(as: "seconds") }) else {
            return .problem(.unprocessableEntity, "The body must be {} or {\"seconds\": SECONDS}.")
        }
        var time: Duration?
        if let value = body["seconds"] {
            guard let seconds = value.number.flatMap({ Double($0) }), seconds > 0, seconds <= Self.longestSeconds else {
                return .problem(
                    .unprocessableEntity, "seconds must be a number above 0, up to \(Int(Self.longestSeconds)).")
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

    /// Ends the current recording.
    func endRecording(_ name: String, isTrial: Bool) async -> HTTPAnswer {
        guard let camera = await camera(name) else { return .noCamera(name) }
        guard let ticket = isTrial ? camera.recorder.ticket : await camera.recorder.stop() else {
            return .problem(.conflict, "The camera is not being recorded on request.")
        }
        guard !isTrial else { return .changes([(name, "recording-ended")], isTrial: true) }
        return .json(.object([("recordings", .list(ticket.names.map(JSONValue.text)))]))
    }

    /// Lists recordings of a camera.
    func recordings(_ name: String, _ query: RecordingListQuery) async -> HTTPAnswer {
        guard let camera = await camera(name) else { return .noCamera(name) }
        do throws(InletError) {
            let store = try await camera.recordings
            let page = try await store.lane.run { isCancelled in
                store.page(
                    after: query.cursor, isNewestFirst: query.isNewestFirst, limit: query.limit,
                    isCancelled: isCancelled)
            }
            return .json(
                .object([
                    ("recordings", .list(page.items.map(Self.json))), ("next", page.next.map { .text($0) } ?? .null),
                ]))
        } catch {
            return .refusal(error)
        }
    }

    private static func json(_ item: RecordingStore.Page.Item) -> JSONValue {
        let note = item.note
        let length = note?["length"] ?? .null
        let hasEnded = length.number != nil
        let state = item.isCurrent ? "recording" : hasEnded ? "complete" : "interrupted"
        let began = item.entry.fields.began.map { JSONValue.text(WallTime.text($0)) }
        return .object(
            [
                ("name", .text(item.entry.name)), ("bytes", .number(item.byteCount)), ("state", .text(state)),
                ("start", note?["start"] ?? began ?? .null), ("length", length),
                ("gaps", note?["gaps"] ?? .list([])), ("moreGaps", note?["moreGaps"] ?? .number(0)),
            ] + ["cause", "asked", "failure"].map { ($0, note?[$0] ?? .null) })
    }

    /// Deletes a recording.
    func deleteRecording(_ file: String, of name: String, isTrial: Bool) async -> HTTPAnswer {
        guard let camera = await camera(name) else { return .noCamera(name) }
        do throws(InletError) {
            let store = try await camera.recordings
            let isThere = try await store.lane.run { _ throws(InletError) in
                guard store.contains(file) else { return false }
                try store.delete(file, isTrial: isTrial)
                return true
            }
            guard isThere else { return Self.noRecording }
            return isTrial ? .changes([(name, "recording-deleted")], isTrial: true) : HTTPAnswer(.noContent)
        } catch {
            return .refusal(error)
        }
    }

    /// Opens a recording.
    ///
    /// - Returns: the open recording and the lane on which it is read, or the answer with the reason why it cannot be
    ///   read.
    func openRecording(
        _ file: String, of name: String
    ) async -> Result<(reader: RecordingReader, lane: FileLane), Refusal> {
        guard let camera = await camera(name) else { return .failure(Refusal(answer: .noCamera(name))) }
        do throws(InletError) {
            let store = try await camera.recordings
            let reader = try await store.lane.run { _ throws(InletError) in
                store.contains(file) ? try RecordingReader(store.folder.path(of: file)) : nil
            }
            guard let reader else { return .failure(Refusal(answer: Self.noRecording)) }
            return .success((reader, store.lane))
        } catch {
            return .failure(Refusal(answer: .refusal(error)))
        }
    }

    /// The reason why a resource is not sent.
    struct Refusal: Error {
        var answer: HTTPAnswer
    }

    private static var noRecording: HTTPAnswer { .problem(.notFound, "There is no such recording.") }
}

extension HTTPAnswer {
    /// Returns the response for an operation that failed for a camera. The camera or the disk is at fault and not the
    /// daemon, so the status is below 500, except 507.
    static func refusal(_ error: InletError) -> HTTPAnswer {
        switch error.code {
        case .unsupported: .problem(.unprocessableEntity, error.message)
        case .notFound: .problem(.notFound, error.message)
        case .inputOutput, .resourceExhausted: .problem(.insufficientStorage, error.description)
        default: .problem(.conflict, error.message)
        }
    }
}

package import InletCore
package import InletRTC
import InletSystem
import Synchronization

/// Signaling by which this side watches a publisher in a room of Janus; the publisher may come later. The server
/// offers. Safe from any thread.
package final class JanusSubscription: ReasonedChannel {
    /// The publisher to watch.
    package enum Feed: Sendable, Hashable {
        /// The first one.
        case first
        /// The one with this identifier.
        case id(String)
        /// The one with this name.
        case display(String)
    }

    package let incoming: AsyncStream<SignalingMessage>
    private let received: AsyncStream<SignalingMessage>.Continuation
    private let room: JanusRoom
    private let feed: Feed
    private let limit: Duration
    private let state = Mutex(State())

    private struct State {
        var connection: JanusConnection?
        var joining: Task<Void, Never>?
        var failure: InletError?
        var isClosed = false
    }

    /// How long to wait before searching for a publisher again.
    private static let interval = Duration.milliseconds(250)

    /// Begins to join.
    ///
    /// - Parameter limit: how long to wait for a publisher.
    package init(_ room: JanusRoom, _ feed: Feed, within limit: Duration) {
        (self.room, self.feed, self.limit) = (room, feed, limit)
        (incoming, received) = AsyncStream.makeStream(of: SignalingMessage.self, bufferingPolicy: .bufferingNewest(64))
        let joining = Task { [weak self] in
            guard let self else { return }
            do throws(InletError) {
                try await join()
            } catch { fail(error) }
        }
        state.withLock { $0.joining = joining }
    }

    package var failure: InletError? { state.withLock { $0.failure } }

    package func send(_ message: SignalingMessage) async throws(SignalingFailure) {
        let connection = state.withLock { $0.connection }
        guard let connection else { return }
        do throws(InletError) {
            switch message {
            case .description(let answer): _ = try await connection.ask("start", [], answer)
            case .candidate(let candidate): try await connection.trickle(candidate)
            case .bye: break
            }
        } catch { throw SignalingFailure(error) }
    }

    package func close() async {
        let (joining, connection) = state.withLock { state in
            state.isClosed = true
            return (state.joining.take(), state.connection.take())
        }
        joining?.cancel()
        received.finish()
        await connection?.close()
    }

    private func join() async throws(InletError) {
        let connection = try await JanusConnection.open(room) { [weak self] event in
            switch event {
            case .ended(let error): self?.fail(error)
            case .said(let reply): if case .over = reply.kind { self?.fail(Self.lost) }
            }
        }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.connection = connection }
            return state.isClosed
        }
        guard !isClosed else { return await connection.close() }
        let feed = try await find(by: connection)
        let stream = JSONValue(.object([JSONMember(key: "feed", value: JanusRoom.identifier(feed))]))
        let reply = try await connection.ask(
            "join",
            [
                JSONMember(key: "ptype", value: JSONValue(.string("subscriber"))),
                JSONMember(key: "streams", value: JSONValue(.array([stream]))),
            ])
        guard let offer = reply.description, offer.kind == .offer else {
            throw InletError(.malformedData, "Janus does not offer what the publisher sends.")
        }
        received.yield(
            .description(
                SessionDescription(kind: .offer, sdp: offer.sdp, flow: SignalingFlow(RandomName.make()))))
    }

    private static let lost = InletError(.sessionLost, "Janus has ended the session.")

    /// Waits for the publisher.
    private func find(by connection: JanusConnection) async throws(InletError) -> String {
        let end = MonotonicTime.now + limit
        while true {
            let there = JanusParticipant.list(try await connection.ask("listparticipants").data)
                .filter(\.isPublisher)
            let found = there.first { one in
                switch feed {
                case .first: true
                case .id(let id): one.id.isSameBytes(as: id)
                case .display(let name): one.display?.isSameBytes(as: name) ?? false
                }
            }
            if let found { return found.id }
            guard .now < end, !Task.isCancelled else {
                let who = feed == .first ? "Nobody publishes" : "The requested publisher is not"
                throw InletError(
                    .notFound, "\(who) in the room '\(room.room)' within \(limit). Start it, or check feed= and room=.")
            }
            try? await Task.sleep(for: min(Self.interval, max(.zero, end - .now)))
        }
    }

    private func fail(_ error: InletError) {
        state.withLock { state in
            if !state.isClosed { state.failure = state.failure ?? error }
        }
        received.finish()
    }
}

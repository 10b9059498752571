import InletCore
package import InletRTC
import Synchronization

/// Signaling by which this side publishes in a room of Janus: each offer makes a new session with the server. Safe from
/// any thread.
package final class JanusPublishing: SignalingChannel {
    package let incoming: AsyncStream<SignalingMessage>
    private let received: AsyncStream<SignalingMessage>.Continuation
    private let room: JanusRoom
    private let id: String?
    private let display: String?
    private let state = Mutex(State())

    private struct State {
        var connection: JanusConnection?
        var flow: SignalingFlow?
        var wasAccepted = false
    }

    /// - Parameters:
    ///   - id: this side's identifier in the room; nil to let the server choose one.
    ///   - display: the name that others see; nil for none.
    package init(_ room: JanusRoom, id: String?, display: String?) {
        (self.room, self.id, self.display) = (room, id, display)
        (incoming, received) = AsyncStream.makeStream(of: SignalingMessage.self, bufferingPolicy: .bufferingNewest(64))
    }

    package func send(_ message: SignalingMessage) async throws(SignalingFailure) {
        switch message {
        case .description(let offer): try await publish(offer)
        case .candidate(let candidate):
            let connection = state.withLock { $0.flow == candidate.flow ? $0.connection : nil }
            guard let connection else { return }
            do throws(InletError) {
                try await connection.trickle(candidate)
            } catch { throw SignalingFailure(error) }
        case .bye: await leave()
        }
    }

    package func close() async {
        received.finish()
        await leave()
    }

    private func publish(_ offer: SessionDescription) async throws(SignalingFailure) {
        await leave()
        do throws(InletError) {
            let connection = try await JanusConnection.open(room) { _ in }
            state.withLock { ($0.connection, $0.flow) = (connection, offer.flow) }
            var body = [JSONMember(key: "ptype", value: JSONValue(.string("publisher")))]
            if let id { body.append(JSONMember(key: "id", value: JanusRoom.identifier(id))) }
            if let display { body.append(JSONMember(key: "display", value: JSONValue(.string(display)))) }
            let reply = try await connection.ask("joinandconfigure", body, offer)
            guard let answer = reply.description, answer.kind == .answer else {
                throw InletError(.malformedData, "Janus does not answer the offer.")
            }
            state.withLock { $0.wasAccepted = true }
            received.yield(.description(SessionDescription(kind: .answer, sdp: answer.sdp, flow: offer.flow)))
        } catch {
            await leave()
            throw SignalingFailure(error, retryAfter: wait(after: error))
        }
    }

    /// Returns the least wait before another attempt; nil if it is pointless.
    private func wait(after error: InletError) -> Duration? {
        switch error.code {
        case .authenticationFailed, .tlsFailed, .invalidConfiguration: nil
        // A server that restarts has no room for a moment.
        case .notFound, .unsupported: state.withLock { $0.wasAccepted } ? .seconds(1) : nil
        // Remains of an earlier session, which Janus ends after a while.
        case .busy, .resourceExhausted: .seconds(2)
        default: error.retryAfter ?? .zero
        }
    }

    private func leave() async {
        let connection = state.withLock { state in
            state.flow = nil
            return state.connection.take()
        }
        await connection?.close()
    }
}

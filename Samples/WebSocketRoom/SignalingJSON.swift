#if WebRTC
    import Foundation
    import Inlet

    /// A message as it goes over the WebSocket: `{"type":"offer","flow":"a-1","sdp":"..."}`,
    /// `{"type":"candidate","flow":"a-1","line":"...","section":0}`, `{"type":"bye"}`.
    struct SignalingJSON: Codable {
        var type: String
        var flow: String?
        var sdp: String?
        var line: String?
        var section: Int?

        init(_ message: SignalingMessage) {
            switch message {
            case .description(let description):
                (type, flow, sdp) = (description.kind.rawValue, "\(description.flow)", description.sdp)
            case .candidate(let candidate):
                (type, flow, line) = ("candidate", "\(candidate.flow)", candidate.line)
                section = candidate.section
            case .bye(let flow): (type, self.flow) = ("bye", flow.map { "\($0)" })
            }
        }

        var text: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}" }

        /// Nil for what is no message: a peer may be of any program.
        static func message(_ text: String) -> SignalingMessage? {
            guard let said = try? JSONDecoder().decode(SignalingJSON.self, from: Data(text.utf8)) else { return nil }
            let flow = said.flow.map { SignalingFlow($0) }
            switch said.type {
            case "bye": return .bye(flow)
            case "candidate":
                guard let flow, let line = said.line else { return nil }
                return .candidate(ICECandidate(line: line, section: said.section ?? 0, flow: flow))
            default:
                guard let flow, let sdp = said.sdp, let kind = SessionDescription.Kind(rawValue: said.type) else {
                    return nil
                }
                return .description(SessionDescription(kind: kind, sdp: sdp, flow: flow))
            }
        }
    }
#endif

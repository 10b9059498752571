#if GStreamer
import Foundation
import InletCore
import InletRTC
import ReferenceTools
import Synchronization

/// Signaling with a connection of headless Chromium, in the page `signaled-page.html`.
final class BrowserChannel: SignalingChannel {
    /// The page's report about its connection.
    struct Report: Sendable {
        /// The codecs of the received and of the sent video, such as `video/H264`, and the number of pictures of
        /// each.
        var (inbound, decoded) = ("", 0)
        var (outbound, encoded) = ("", 0)
        /// The number of requests for key frames that the page received.
        var keyFrameRequests = 0
        /// The number of offers the page received, and the number of its connections.
        var (offers, connections) = (0, 0)
        /// The last description that the page received.
        var sdp = ""
        /// The negotiated direction, from the page's side.
        var direction = ""
        /// The error; empty without an error.
        var trouble = ""
    }

    let incoming: AsyncStream<SignalingMessage>
    private let received: AsyncStream<SignalingMessage>.Continuation
    private let browser: CameraBrowser
    private let isClosed = Atomic(false)
    /// Runs the steps in the page in sequence.
    private let queue = DispatchQueue(label: "signaling")

    /// - Parameter sends: whether the page sends its camera, which shows the pictures of `pattern:timecode`.
    init(sends: Bool) throws {
        (incoming, received) = AsyncStream.makeStream(of: SignalingMessage.self)
        browser = try CameraBrowser(
            page: "signaled-page.html",
            flags: ["--allow-loopback-in-peer-connection", "--disable-features=WebRtcHideLocalIpsWithMdns"])
        try browser.open(browser.page ?? "")
        if sends { _ = try browser.evaluate("return start()") }
        poll()
    }

    private func poll() {
        queue.asyncAfter(deadline: .now() + .milliseconds(20)) { [weak self] in
            guard let self, !isClosed.load(ordering: .relaxed) else { return }
            if case .list(let said)? = try? browser.evaluate("return said.splice(0)") {
                for message in said.compactMap(Self.message) { received.yield(message) }
            }
            poll()
        }
    }

    /// Runs a step in the page after the earlier steps.
    private func aside<Value: Sendable>(
        _ work: @escaping @Sendable (CameraBrowser) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [browser] in continuation.resume(with: Result { try work(browser) }) }
        }
    }

    /// Runs a script in the page.
    func run(_ script: String) async throws { _ = try await aside { try $0.evaluate(script) } }

    /// Returns the number in the page's current picture; nil if it contains no number.
    func number() async throws -> Int? { try await aside { try $0.read("video").number } }

    func report() async throws -> Report {
        guard case .object(let said) = try await aside({ try $0.evaluate("return report()") }) else {
            return Report()
        }
        func text(_ name: String) -> String { said[name]?.text ?? "" }
        func count(_ name: String) -> Int { said[name]?.int ?? 0 }
        return Report(
            inbound: text("inbound"), decoded: count("decoded"), outbound: text("outbound"),
            encoded: count("encoded"), keyFrameRequests: count("keyFrameRequests"), offers: count("offers"),
            connections: count("connections"),
            sdp: text("sdp"), direction: text("direction"), trouble: text("trouble"))
    }

    func send(_ message: SignalingMessage) async throws(SignalingFailure) {
        do {
            let fields =
                switch message {
                case .description(let it): ["type": it.kind.rawValue, "flow": "\(it.flow)", "sdp": it.sdp]
                case .candidate(let it): ["type": "candidate", "flow": "\(it.flow)", "line": it.line]
                case .bye: ["type": "bye"]
                }
            let json = String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
            try await run("deliver(\(json))")
        } catch {
            throw SignalingFailure(.init(wrapping: error, operation: "Delivering"))
        }
    }

    func close() async {
        isClosed.store(true, ordering: .relaxed)
        received.finish()
    }

    /// Ends the browser.
    func stop() {
        isClosed.store(true, ordering: .relaxed)
        browser.stop()
    }

    private static func message(_ value: PeerValue) -> SignalingMessage? {
        guard case .object(let fields) = value, let type = fields["type"]?.text else { return nil }
        let flow = SignalingFlow(fields["flow"]?.text ?? "")
        if type == "candidate" {
            return .candidate(ICECandidate(line: fields["line"]?.text ?? "", section: 0, flow: flow))
        }
        return SessionDescription.Kind(rawValue: type).map {
            .description(SessionDescription(kind: $0, sdp: fields["sdp"]?.text ?? "", flow: flow))
        }
    }
}
#endif

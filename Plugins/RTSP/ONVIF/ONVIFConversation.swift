import InletCore
import InletFFmpeg
import InletNetwork
import InletRTSP
import InletSystem

/// Performs the exchanges of an ``ONVIFSession`` one after another until it has its result. Blocks the thread.
struct ONVIFConversation {
    var session: ONVIFSession
    private var exchange: ONVIFExchange
    /// The time limit for each response.
    private let patience: Duration

    /// The maximum number of exchanges, which is more than a recorder with all supported profiles needs.
    private static let mostExchanges = 96

    /// - Parameter policy: the permitted targets of redirects.
    init(
        _ settings: ONVIFSession.Settings, _ context: SourceContext, tls: TLSSettings, policy: AddressPolicy,
        patience: Duration
    ) {
        self.init(
            ONVIFSession(settings), device: settings.device, context, tls: tls, policy: policy, patience: patience)
    }

    /// Continues a session.
    init(
        _ session: ONVIFSession, device: RTSPURL, _ context: SourceContext, tls: TLSSettings, policy: AddressPolicy,
        patience: Duration
    ) {
        self.session = session
        exchange = ONVIFExchange(wait: DescriptorWait(context: context), tls: tls, policy: policy, device: device)
        self.patience = patience
    }

    /// Performs all exchanges.
    ///
    /// - Parameter end: the time limit for the whole conversation.
    /// - Throws: errors of ``ONVIFExchange/perform(_:until:)`` and ``ONVIFSession/take(_:at:)``.
    mutating func run(until end: MonotonicTime) throws(InletError) {
        for _ in 0..<Self.mostExchanges {
            guard try step(until: end) else { return }
        }
        throw InletError(
            .malformedData,
            "The ONVIF device needs too many requests. Use the address of its stream, rtsp://…, instead.")
    }

    /// Performs the next exchange.
    ///
    /// - Returns: false if nothing is left to request.
    /// - Throws: as ``run(until:)``.
    mutating func step(until end: MonotonicTime) throws(InletError) -> Bool {
        guard let next = session.next(wantsKeyFrame: false, at: Self.time, nonce: Self.nonce()) else { return false }
        let response = try exchange.perform(next, until: min(end, exchange.wait.clock.now + patience))
        _ = try session.take(response, at: Self.time)
        return true
    }

    /// The time of day in seconds since 1970.
    static var time: Int64 { HostTime.now / 1_000_000_000 }

    /// Returns 16 random bytes.
    static func nonce() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}

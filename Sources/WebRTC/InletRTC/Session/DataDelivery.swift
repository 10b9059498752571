package import InletCore

/// The guarantees of a data channel for its messages (RFC 8831, 6.1; `RTCDataChannelInit` in browsers).
public struct DataDelivery: Sendable, Hashable {
    /// The limit of the attempts to deliver a message.
    public enum Persistence: Sendable, Hashable {
        /// Until it arrives.
        case untilArrival
        /// The maximum number of times that it is sent again, from 0 to 65,535: `maxRetransmits`.
        case retransmits(Int)
        /// The longest time, from 1 to 65,535 ms in whole milliseconds: `maxPacketLifeTime`.
        case lifetime(Duration)
    }

    /// Whether messages arrive in the order in which they were sent. The default is true.
    public var isOrdered: Bool
    /// The limit of the attempts to deliver a message. The default is ``Persistence/untilArrival``.
    public var persistence: Persistence

    public init(isOrdered: Bool = true, persistence: Persistence = .untilArrival) {
        self.isOrdered = isOrdered
        self.persistence = persistence
    }

    /// Every message arrives, in order: for messages that must not be lost.
    public static let ordered = DataDelivery()
    /// Every message arrives, in any order.
    public static let unordered = DataDelivery(isOrdered: false)
    /// Messages arrive soon or not at all, in any order: for messages that the next one makes obsolete.
    public static let lossy = DataDelivery.retransmits(0)

    /// Each message is sent again at most `count` times.
    public static func retransmits(_ count: Int, isOrdered: Bool = false) -> DataDelivery {
        DataDelivery(isOrdered: isOrdered, persistence: .retransmits(count))
    }

    /// Each message is tried for at most `duration`.
    public static func lifetime(_ duration: Duration, isOrdered: Bool = false) -> DataDelivery {
        DataDelivery(isOrdered: isOrdered, persistence: .lifetime(duration))
    }

    /// Whether every message arrives.
    package var losesNothing: Bool { persistence == .untilArrival }

    /// The bounds in the engine's form, lifetime in milliseconds; -1 for no bound.
    package var bounds: (retransmits: Int, milliseconds: Int) {
        switch persistence {
        case .untilArrival: (-1, -1)
        case .retransmits(let count): (count, -1)
        case .lifetime(let duration): (-1, Self.milliseconds(duration))
        }
    }

    /// - Parameters:
    ///   - retransmits: negative for no bound.
    ///   - milliseconds: negative for no bound.
    package init(isOrdered: Bool, retransmits: Int, milliseconds: Int) {
        self.isOrdered = isOrdered
        persistence =
            if retransmits >= 0 {
                .retransmits(retransmits)
            } else if milliseconds >= 0 {
                .lifetime(.milliseconds(milliseconds))
            } else {
                .untilArrival
            }
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        let limited = min(max(duration, .zero), .milliseconds(Int32.max))
        return Int(limited / .milliseconds(1))
    }

    /// Checks the bounds.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for bounds that a channel cannot have.
    package func validate() throws(InletError) {
        switch persistence {
        case .untilArrival: break
        case .retransmits(let count):
            guard Self.range.contains(count) else {
                throw InletError(
                    .invalidConfiguration, "A message is sent again from 0 to 65535 times, not \(count).")
            }
        case .lifetime(let duration):
            let isInRange = duration >= .milliseconds(1) && duration <= .milliseconds(Self.range.upperBound)
            guard isInRange, .milliseconds(Self.milliseconds(duration)) == duration else {
                throw InletError(
                    .invalidConfiguration,
                    "A message lives from 1 to 65535 ms, in whole milliseconds, not \(duration).")
            }
        }
    }

    private static let range = 0...65_535

    /// Returns the index of the channel for this delivery: the first with exactly this one, else the first that matches
    /// it in whether it keeps order and whether it may lose messages.
    package func index(among deliveries: [DataDelivery]) -> Int? {
        func isReliable(_ delivery: DataDelivery) -> Bool { delivery.isOrdered && delivery.losesNothing }
        return deliveries.firstIndex(of: self)
            ?? deliveries.firstIndex { isReliable($0) == isReliable(self) }
    }
}

extension DataDelivery: Codable {
    private enum CodingKeys: String, CodingKey { case ordered, maxRetransmits, maxPacketLifeTime }

    /// Reads the keys of `RTCDataChannelInit`: `ordered`, `maxRetransmits`, and `maxPacketLifeTime` in milliseconds.
    ///
    /// - Throws: `DecodingError` for values that a channel cannot have, and for both bounds.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let retransmits = try values.decodeIfPresent(Int.self, forKey: .maxRetransmits)
        let lifetime = try values.decodeIfPresent(Int.self, forKey: .maxPacketLifeTime)
        isOrdered = try values.decodeIfPresent(Bool.self, forKey: .ordered) ?? true
        func invalid(_ text: String) -> DecodingError {
            .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
        }
        switch (retransmits, lifetime) {
        case (nil, nil): persistence = .untilArrival
        case (let count?, nil): persistence = .retransmits(count)
        case (nil, let milliseconds?): persistence = .lifetime(.milliseconds(milliseconds))
        default: throw invalid("maxRetransmits and maxPacketLifeTime exclude each other.")
        }
        do {
            try validate()
        } catch {
            throw invalid(error.message)
        }
    }

    /// Writes the form that ``init(from:)`` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(isOrdered, forKey: .ordered)
        switch persistence {
        case .untilArrival: break
        case .retransmits(let count): try values.encode(count, forKey: .maxRetransmits)
        case .lifetime: try values.encode(bounds.milliseconds, forKey: .maxPacketLifeTime)
        }
    }
}

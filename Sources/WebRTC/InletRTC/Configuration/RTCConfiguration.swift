public import InletCore

/// The configuration of WebRTC by an application or a file: the bit rates and the controller that determines them, the
/// time limit for a connection, and the STUN and TURN servers.
///
/// Its JSON form is read strictly by ``init(json:file:)``, or by any `Decoder`:
///
///     {
///         "rateControl": "delay", "initialBitrate": 1000000, "minBitrate": 100000, "maxBitrate": 2500000,
///         "connectionTimeout": 30,
///         "iceServers": [{"urls": "turn:relay.example", "username": "studio", "credential": "..."}]
///     }
///
/// Properties that are nil have the defaults that they state, and no key in the JSON form. The properties from
/// ``stepUp`` to ``minPackets`` are used by ``RateControl/loss`` and by ``RateControl/automatic``; set with
/// ``RateControl/delay``, they are an error.
public struct RTCConfiguration: Sendable, Hashable {
    /// The longest JSON form that is read: 64 KiB.
    public static let longest = 65_536
    /// The maximum number of addresses of STUN and TURN servers.
    public static let mostServers = 32

    /// The controller of the bit rate. The default is ``RateControl/delay``.
    public var rateControl = RateControl.delay
    /// The initial bit rate, in bits a second. The default, nil, is 1,000,000, or the nearest of the two limits.
    public var initialBitrate: Int?
    /// The lowest bit rate, in bits a second. The default, nil, is 100,000, or less if the others are less.
    public var minBitrate: Int?
    /// The highest bit rate, in bits a second. The default, nil, is 6,000,000 with ``RateControl/loss`` and 2,500,000
    /// with the others.
    public var maxBitrate: Int?
    /// The step up, as a fraction of the bit rate. The default, nil, is 0.15.
    public var stepUp: Double?
    /// The step down, as a fraction of the bit rate. The default, nil, is 0.15.
    public var stepDown: Double?
    /// The step down when the loss is critical, as a fraction of the bit rate. The default, nil, is 0.25.
    public var criticalStepDown: Double?
    /// The highest loss at which the bit rate steps up, as a fraction of the packets. The default, nil, is 0.01.
    public var lowLossThreshold: Double?
    /// The lowest loss at which it steps down. The default, nil, is 0.05.
    public var highLossThreshold: Double?
    /// The lowest loss that is critical. The default, nil, is 0.1.
    public var criticalLossThreshold: Double?
    /// The time between decisions. The default, nil, is 5 seconds.
    public var decisionInterval: Duration?
    /// The time that a decision looks back. The default, nil, is 10 seconds.
    public var decisionWindow: Duration?
    /// The time between checks for critical loss. The default, nil, is 1 second.
    public var criticalInterval: Duration?
    /// The fewest packets that a decision needs. The default, nil, is 10.
    public var minPackets: Int?
    /// The time limit for a connection. The default, nil, is that of the sink, source or session.
    public var connectionTimeout: Duration?
    /// The STUN and TURN servers. Empty by default.
    public var iceServers: [ICEServer] = []
    /// Whether media always goes through a relay. The default is false.
    public var isRelayOnly = false

    /// Creates a configuration with the default of each property.
    public init() {}

    /// The bit rates, and how they follow loss, with the default of each property that is nil.
    public var rates: LossStepper.Settings {
        var rates = LossStepper.Settings()
        rates.maximum = maxBitrate ?? (rateControl == .loss ? rates.maximum : 2_500_000)
        rates.minimum = minBitrate ?? min(rates.minimum, rates.maximum, initialBitrate ?? .max)
        rates.start = initialBitrate ?? max(rates.minimum, min(rates.start, rates.maximum))
        rates.stepUp = stepUp ?? rates.stepUp
        rates.stepDown = stepDown ?? rates.stepDown
        rates.criticalStep = criticalStepDown ?? rates.criticalStep
        rates.lowLoss = lowLossThreshold ?? rates.lowLoss
        rates.highLoss = highLossThreshold ?? rates.highLoss
        rates.criticalLoss = criticalLossThreshold ?? rates.criticalLoss
        rates.interval = decisionInterval ?? rates.interval
        rates.window = decisionWindow ?? rates.window
        rates.criticalInterval = criticalInterval ?? rates.criticalInterval
        rates.fewestPackets = minPackets ?? rates.fewestPackets
        return rates
    }

    /// The STUN and TURN servers for sessions.
    public var ice: ICEServers {
        var servers = ICEServers()
        servers.fixed = iceServers
        servers.isRelayOnly = isRelayOnly
        return servers
    }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` with the key of the JSON form and what is allowed, if a value
    ///   is out of range, contradicts another, or is not used by ``rateControl``.
    public func validate() throws(InletError) { try validate(file: nil) }

    /// Checks the configuration.
    ///
    /// - Parameter file: the file that it was read from, for errors.
    package func validate(file: String?) throws(InletError) {
        func error(_ key: Key, _ text: String) -> InletError { Self.error(file, key: key.rawValue, text) }
        for key in Key.allCases {
            guard let number = number(of: key), let rule = key.rule, !rule.isAllowed(number) else { continue }
            throw error(key, "it is \(Self.text(number)); write \(rule.words)")
        }
        if rateControl == .delay, let key = Key.lossKnobs.first(where: { number(of: $0) != nil }) {
            throw error(
                key,
                "the controller \"delay\" does not heed it; \"loss\" and \"automatic\" do. Leave it out, or choose "
                    + "one of them as rateControl")
        }
        let rates = rates
        guard rates.minimum <= rates.maximum else {
            throw error(.minBitrate, "it is \(rates.minimum); write at most maxBitrate, which is \(rates.maximum)")
        }
        guard rates.minimum <= rates.start, rates.start <= rates.maximum else {
            throw error(
                .initialBitrate,
                "it is \(rates.start); write minBitrate, which is \(rates.minimum), to maxBitrate, which is "
                    + "\(rates.maximum)")
        }
        guard rates.lowLoss < rates.highLoss, rates.highLoss <= rates.criticalLoss else {
            throw error(
                .highLossThreshold,
                "it is \(rates.highLoss); write more than lowLossThreshold, which is \(rates.lowLoss), and at most "
                    + "criticalLossThreshold, which is \(rates.criticalLoss)")
        }
        guard rates.window >= rates.interval else {
            throw error(
                .decisionWindow,
                "it is \(rates.window.optionText); write at least decisionInterval, which is "
                    + rates.interval.optionText)
        }
        guard iceServers.count <= Self.mostServers else {
            throw error(.iceServers, "there are \(iceServers.count) addresses; write at most \(Self.mostServers)")
        }
        guard !isRelayOnly || ice.hasRelay else {
            throw error(.relayOnly, "there is no relay; write one as iceServers or turnServers")
        }
    }
}

extension RTCConfiguration: CustomStringConvertible, CustomDebugStringConvertible {
    /// The controller, the bit rates and the servers, without credentials.
    public var description: String {
        let rates = rates
        let head = "\(rateControl.rawValue), \(rates.start) bits a second, \(rates.minimum) to \(rates.maximum)"
        return iceServers.isEmpty ? head : "\(head); \(ice)\(isRelayOnly ? ", by relays alone" : "")"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
}

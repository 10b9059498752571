import InletCore

extension RTCConfiguration {
    /// The keys of the JSON form.
    enum Key: String, CodingKey, CaseIterable {
        case rateControl, initialBitrate, minBitrate, maxBitrate
        case stepUp, stepDown, criticalStepDown
        case lowLossThreshold, highLossThreshold, criticalLossThreshold
        case decisionInterval, decisionWindow, criticalInterval, minPackets
        case connectionTimeout, iceServers, stunServers, turnServers, relayOnly

        /// The keys that only a controller by loss uses.
        static let lossKnobs: [Key] = [
            .stepUp, .stepDown, .criticalStepDown, .lowLossThreshold, .highLossThreshold, .criticalLossThreshold,
            .decisionInterval, .decisionWindow, .criticalInterval, .minPackets,
        ]

        /// The numbers that a key allows; nil if its value is not a number.
        var rule: NumberRule? {
            switch self {
            case .initialBitrate, .minBitrate, .maxBitrate:
                .whole(EncoderSettings.bitrates, unit: " (bits a second)")
            case .minPackets: .whole(1...1_000_000, unit: "")
            case .stepUp: NumberRule(words: "a number above 0, at most 10") { $0 > 0 && $0 <= 10 }
            case .stepDown, .criticalStepDown: NumberRule(words: "a number above 0 and below 1") { $0 > 0 && $0 < 1 }
            case .lowLossThreshold, .highLossThreshold, .criticalLossThreshold:
                NumberRule(words: "a number from 0 to 1") { $0 >= 0 && $0 <= 1 }
            case .decisionInterval, .decisionWindow, .criticalInterval, .connectionTimeout:
                NumberRule(words: "a number from 0.01 to 3600 (seconds)") { $0 >= 0.01 && $0 <= 3600 }
            case .rateControl, .iceServers, .stunServers, .turnServers, .relayOnly: nil
            }
        }
    }

    /// The numbers that a key allows.
    struct NumberRule: Sendable {
        /// The numbers in words.
        let words: String
        let isAllowed: @Sendable (Double) -> Bool

        static func whole(_ range: ClosedRange<Int>, unit: String) -> NumberRule {
            NumberRule(words: "a whole number from \(range.lowerBound) to \(range.upperBound)\(unit)") { number in
                Int(exactly: number).map(range.contains) ?? false
            }
        }
    }

    /// Returns the number of a key, times in seconds; nil if it is not set.
    func number(of key: Key) -> Double? {
        switch key {
        case .initialBitrate: initialBitrate.map(Double.init)
        case .minBitrate: minBitrate.map(Double.init)
        case .maxBitrate: maxBitrate.map(Double.init)
        case .stepUp: stepUp
        case .stepDown: stepDown
        case .criticalStepDown: criticalStepDown
        case .lowLossThreshold: lowLossThreshold
        case .highLossThreshold: highLossThreshold
        case .criticalLossThreshold: criticalLossThreshold
        case .decisionInterval: decisionInterval.map(Self.seconds)
        case .decisionWindow: decisionWindow.map(Self.seconds)
        case .criticalInterval: criticalInterval.map(Self.seconds)
        case .minPackets: minPackets.map(Double.init)
        case .connectionTimeout: connectionTimeout.map(Self.seconds)
        case .rateControl, .iceServers, .stunServers, .turnServers, .relayOnly: nil
        }
    }

    /// Sets the number of a key, which its rule allows.
    mutating func set(_ number: Double, for key: Key) {
        let time = Duration.nanoseconds(Int64(min(number, 1e9) * 1e9 + 0.5))
        switch key {
        case .initialBitrate: initialBitrate = Int(exactly: number)
        case .minBitrate: minBitrate = Int(exactly: number)
        case .maxBitrate: maxBitrate = Int(exactly: number)
        case .stepUp: stepUp = number
        case .stepDown: stepDown = number
        case .criticalStepDown: criticalStepDown = number
        case .lowLossThreshold: lowLossThreshold = number
        case .highLossThreshold: highLossThreshold = number
        case .criticalLossThreshold: criticalLossThreshold = number
        case .decisionInterval: decisionInterval = time
        case .decisionWindow: decisionWindow = time
        case .criticalInterval: criticalInterval = time
        case .minPackets: minPackets = Int(exactly: number)
        case .connectionTimeout: connectionTimeout = time
        case .rateControl, .iceServers, .stunServers, .turnServers, .relayOnly: break
        }
    }

    private static func seconds(_ time: Duration) -> Double { Double(time.wholeNanoseconds) / 1e9 }

    /// Returns a number in the form of JSON: whole ones without a fraction.
    static func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }

    /// Returns the error of a key.
    ///
    /// - Parameters:
    ///   - file: the file; nil for a configuration from another source.
    ///   - line: the line, from 1; 0 if it is unknown.
    ///   - key: the path of the key; empty for the configuration itself.
    ///   - text: the problem and its correction, without quoting possible secrets.
    static func error(_ file: String?, line: Int = 0, key: String, _ text: String) -> InletError {
        let place = [file ?? "The WebRTC configuration", line > 0 ? "line \(line)" : "", key.sanitized(limit: 128)]
            .filter { !$0.isEmpty }.joined(separator: ", ")
        return InletError(.invalidConfiguration, "\(place): \(text).")
    }
}

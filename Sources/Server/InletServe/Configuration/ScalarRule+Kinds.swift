import InletCapture
import InletCore
import InletHTTPServer

extension ScalarRule {
    /// The URI of a source or a sink. Its plug-in reports errors in it.
    static func uri(_ description: String) -> ScalarRule {
        ScalarRule(description, pattern: "[\\s\\S]{1,4096}", isQuotable: false) {
            !$0.isEmpty && $0.unicodeScalars.count <= 4096
        }
    }

    /// The name of a file, a variable or a credential.
    static let path = ScalarRule("a name", pattern: "[^\\u0000]{1,1024}") {
        !$0.isEmpty && $0.unicodeScalars.count <= 1024 && !$0.utf8.contains(0)
    }

    /// A choice among the given words.
    static func choice(_ words: [String]) -> ScalarRule {
        ScalarRule(
            "one of \(words.joined(separator: ", "))", pattern: words.joined(separator: "|"), isValid: words.contains)
    }

    /// A whole number in decimal digits.
    static func integer(_ range: ClosedRange<Int>) -> ScalarRule {
        // The pattern cannot express the bounds of a number; the reader checks them.
        ScalarRule("a number from \(range.lowerBound) to \(range.upperBound)", pattern: "[0-9]{1,9}", types: [.integer])
        {
            TextBytes.number($0.utf8, upTo: range.upperBound).map(range.contains) ?? false
        }
    }

    private static let timePattern = "[0-9]{1,9}(\\.[0-9]{1,9})?(ns|us|ms|s|m|h)?"

    /// A time above zero.
    static let time = ScalarRule(
        "a time above zero such as 5s, 500ms or 2m", pattern: timePattern, types: [.integer, .number],
        isValid: { duration($0) != nil })

    /// A time as in the option `maximum-lag` of sources.
    static let lag = ScalarRule(
        "a time above zero and up to 60s such as 150ms", pattern: timePattern, types: [.integer, .number],
        isValid: { duration($0).map { $0 <= .seconds(60) } ?? false })

    /// False, true, or a time.
    static let onDemand = ScalarRule(
        "true, false or a time above zero such as 30s", pattern: "true|false|yes|no|on|off|" + timePattern,
        types: [.boolean, .integer, .number],
        isValid: { onDemand($0) != nil })

    /// A number of repetitions.
    static let repetition = ScalarRule(
        "never, forever or a number such as 5", pattern: "never|forever|[0-9]{1,6}", types: [.integer],
        isValid: { repetitions($0) != nil })

    /// A queue's policy.
    static let queue = ScalarRule(
        "latest, buffered:N or lossless:N with N from 1 to 1024",
        pattern: "latest|lossless|(lossless|buffered):[0-9]{1,4}",
        isValid: { queue($0) != nil })

    /// A number of bytes above zero.
    static let bytes = ScalarRule(
        "a number of bytes such as 500k, 32M or 10G", pattern: "[0-9]{1,12}[kMG]?", types: [.integer],
        isValid: { byteCount($0) != nil })

    /// A path under which a proxy serves the page.
    static let basePath = ScalarRule(
        "a path such as /cams", pattern: "/[A-Za-z0-9._~/-]{0,199}", isValid: { ProxyRule.prefix($0) != nil })

    /// An address or a network.
    static let network = ScalarRule(
        "an address or a network such as 10.0.0.0/8", pattern: "[0-9A-Fa-f.:]{2,45}(/[0-9]{1,3})?",
        isValid: { (try? ProxyRule.Network($0)) != nil })

    /// A number of processor cores.
    static let cores = ScalarRule(
        "a number of cores from 0.05 to 1024 such as 1.5", pattern: "[0-9]{1,4}(\\.[0-9]{1,3})?",
        types: [.integer, .number], isValid: { coreCount($0) != nil })

    /// The kind of an event.
    static let eventKind: ScalarRule = {
        var rule = ScalarRule(
            "the kind of an event, such as motion", pattern: CameraSetEvent.kinds.joined(separator: "|"),
            isValid: CameraSetEvent.kinds.contains)
        rule.names = CameraSetEvent.kinds
        return rule
    }()

    /// A picture's size.
    static let size = ScalarRule(
        "WIDTHxHEIGHT such as 1280x720, from 64x64 to 7680x7680", pattern: "[0-9]{2,4}x[0-9]{2,4}",
        isValid: { viewSize($0) != nil })

    /// A frame rate.
    static let rate = ScalarRule(
        "a rate from 0.1 to 60 such as 10 or 0.5", pattern: "[0-9]{1,2}(\\.[0-9]{1,3})?", types: [.integer, .number],
        isValid: { viewRate($0) != nil })

    /// A host and a port.
    static let listen = ScalarRule(
        "HOST:PORT such as 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8080", pattern: "[^\\s]{1,300}", types: [.integer],
        isValid: { (1...300).contains($0.utf8.count) && (try? ListenAddress($0, scheme: "listen")) != nil })

    // MARK: Values

    static func duration(_ text: String) -> Duration? {
        guard text.utf8.first?.isASCIIDigit == true, let time = Duration(optionText: text), time > .zero else {
            return nil
        }
        return time
    }

    /// - Returns: the time; zero for false.
    static func onDemand(_ text: String) -> Duration? {
        switch text {
        case "false", "no", "off": .zero
        case "true", "yes", "on": .seconds(10)
        default: duration(text)
        }
    }

    /// - Returns: the number of repetitions; `.some(nil)` for no limit.
    static func repetitions(_ text: String) -> Int?? {
        switch text {
        case "never": 0
        case "forever": .some(nil)
        default: TextBytes.number(text.utf8, upTo: 999_999).map { .some($0) }
        }
    }

    static func queue(_ text: String) -> QueuePolicy? {
        let parts = text.split(atByte: ":")
        let count = parts.count == 2 ? TextBytes.number(parts[1].utf8, upTo: 1024).flatMap { $0 > 0 ? $0 : nil } : nil
        return switch (parts[0], parts.count, count) {
        case ("latest", 1, _): .latest
        case ("lossless", 1, _): .lossless()
        case ("lossless", 2, let count?): .lossless(count)
        case ("buffered", 2, let count?): .buffered(count, dropping: .oldest)
        default: nil
        }
    }

    static func byteCount(_ text: String) -> Int? {
        let scales: [UInt8: Int] = [
            UInt8(ascii: "k"): 1000, UInt8(ascii: "M"): 1_000_000, UInt8(ascii: "G"): 1_000_000_000,
        ]
        let scale = text.utf8.last.flatMap { scales[$0] }
        let digits = scale == nil ? text.utf8[...] : text.utf8.dropLast()
        guard !digits.isEmpty, digits.count <= 12, let number = TextBytes.number(digits, upTo: 999_999_999_999)
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: scale ?? 1)
        return overflow || product == 0 || product > 1_000_000_000_000_000 ? nil : product
    }

    static func coreCount(_ text: String) -> Double? {
        guard text.utf8.first?.isASCIIDigit == true, !text.utf8.contains(UInt8(ascii: "/")),
            let cores = Rational(optionText: text)?.doubleValue
        else { return nil }
        return (0.05...1024).contains(cores) ? cores : nil
    }

    static func viewSize(_ text: String) -> ImageSize? {
        let parts = text.split(atByte: "x")
        guard parts.count == 2, let width = TextBytes.number(parts[0].utf8, upTo: 7680),
            let height = TextBytes.number(parts[1].utf8, upTo: 7680), width >= 64, height >= 64
        else { return nil }
        return ImageSize(width: width, height: height)
    }

    static func viewRate(_ text: String) -> Rational? {
        guard let rate = Rational(optionText: text), rate >= Rational(1, 10), rate <= Rational(60) else { return nil }
        return rate
    }
}

package import InletCore

/// A media description of a session description (RFC 8866, section 5.14).
package struct SDPMedia: Sendable, Equatable {
    /// The encoding of a payload type, as `a=rtpmap` states it.
    package struct Encoding: Sendable, Equatable {
        /// The name as written, such as `H264`.
        package var name: [UInt8]
        /// Ticks a second; nil if it is missing or makes no sense.
        package var clockRate: Int?
    }

    /// A parameter of `a=fmtp`.
    package struct Parameter: Sendable, Equatable {
        /// The name in lower case.
        package var name: [UInt8]
        package var value: [UInt8]
    }

    /// A kind of feedback that `a=rtcp-fb` offers (RFC 4585, section 4.2).
    struct Feedback: Sendable, Equatable {
        /// The payload type; nil means all types.
        var payloadType: UInt8?
        /// The kind in lower case, such as `nack pli`.
        var kind: [UInt8]
    }

    /// The kind of media, in lower case, such as `video`.
    package var kind: [UInt8]
    /// The port; 0 if it is to be negotiated, or unreadable.
    package var port: Int
    /// The transport in upper case, such as `RTP/AVP`.
    package var transport: [UInt8]
    /// The payload types in their order of preference.
    package var payloadTypes: [UInt8]
    package var control: [UInt8]?
    /// The direction as written, such as `sendonly`. Cameras state the wrong one.
    package var direction: [UInt8]?
    package var encodings: [UInt8: Encoding] = [:]
    package var parameters: [UInt8: [Parameter]] = [:]
    /// Frames a second as stated, which need not be true.
    package var frameRate: Double?
    /// The size of the pictures as stated, which need not be true.
    package var dimensions: ImageSize?
    package var connection: SDP.Connection?
    package var sourceFilter: [UInt8]?
    var frameSizes: [UInt8: ImageSize] = [:]
    var feedback: [Feedback] = []
    private var width: Int?
    private var height: Int?

    /// The most feedback lines and the most parameters of a payload type that are read.
    private static let mostEntries = 128

    /// Reads the value of `m=`, such as `video 0 RTP/AVP 96`. Parts that cannot be read are empty.
    init(line: some Collection<UInt8>) {
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        kind = words.first.map { TextBytes.lowercased($0) } ?? []
        // A number of ports may follow: 49170/2.
        port =
            words.count > 1
            ? TextBytes.number(words[1].prefix { $0 != UInt8(ascii: "/") }, upTo: 65_535) ?? 0 : 0
        transport =
            words.count > 2
            ? words[2].map { $0.isASCIILetter ? $0 & 0xDF : $0 } : []
        payloadTypes = words.dropFirst(3).prefix(128).compactMap { Self.payloadType($0) }
    }

    mutating func take(attribute name: [UInt8], _ value: [UInt8]) {
        switch String(decoding: name, as: UTF8.self) {
        case "control": control = control ?? value
        case "rtpmap": take(encoding: value)
        case "fmtp": take(parameters: value)
        case "recvonly", "sendonly", "sendrecv", "inactive": direction = direction ?? name
        case "framerate", "x-framerate":
            frameRate = frameRate ?? HeaderText.decimal(value).flatMap(Self.sensible(rate:))
        case "x-dimensions": dimensions = dimensions ?? Self.size(value, separator: ",")
        case "framesize": take(frameSize: value)
        case "cliprect": dimensions = dimensions ?? Self.size(cliprect: value)
        case "width": width = Self.integer(value)
        case "height": height = Self.integer(value)
        case "rtcp-fb": take(feedback: value)
        case "source-filter": sourceFilter = sourceFilter ?? SDP.source(ofFilter: value)
        default: break
        }
        if dimensions == nil, let width, let height {
            dimensions = Self.valid(ImageSize(width: width, height: height))
        }
    }

    private mutating func take(encoding value: [UInt8]) {
        guard let (number, text) = Self.payloadTypeAndRest(value), encodings[number] == nil else { return }
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let name = parts.first.map({ TextBytes.trimmed($0) }), !name.isEmpty else { return }
        let rate = parts.count > 1 ? TextBytes.number(TextBytes.trimmed(parts[1])) : nil
        encodings[number] = Encoding(name: Array(name), clockRate: rate == 0 ? nil : rate)
    }

    private mutating func take(parameters value: [UInt8]) {
        guard let (number, text) = Self.payloadTypeAndRest(value) else { return }
        var list = parameters[number] ?? []
        for part in HeaderText.split(text, at: ";") where !part.isEmpty && list.count < Self.mostEntries {
            let (name, value) = HeaderText.pair(part)
            list.append(Parameter(name: TextBytes.lowercased(name), value: value ?? []))
        }
        parameters[number] = list
    }

    private mutating func take(frameSize value: [UInt8]) {
        guard let (number, text) = Self.payloadTypeAndRest(value) else { return }
        frameSizes[number] = Self.size(text, separator: "-")
    }

    private mutating func take(feedback value: [UInt8]) {
        guard feedback.count < Self.mostEntries else { return }
        let words = value.split(separator: UInt8(ascii: " "))
        guard let first = words.first else { return }
        let payloadType = Self.payloadType(first)
        guard payloadType != nil || first.elementsEqual("*".utf8) else { return }
        let kind = words.dropFirst().joined(separator: [UInt8(ascii: " ")])
        feedback.append(Feedback(payloadType: payloadType, kind: TextBytes.lowercased(kind)))
    }

    // MARK: Numbers

    private static func payloadType(_ text: some Collection<UInt8>) -> UInt8? {
        TextBytes.number(text, upTo: 127).map { UInt8(truncatingIfNeeded: $0) }
    }

    private static func payloadTypeAndRest(_ value: [UInt8]) -> (UInt8, ArraySlice<UInt8>)? {
        let end = value.firstIndex { $0.isASCIISpace } ?? value.endIndex
        return payloadType(value[..<end]).map { ($0, TextBytes.trimmed(value[end...])) }
    }

    /// Returns the number of `integer;384`.
    private static func integer(_ value: [UInt8]) -> Int? {
        HeaderText.halves(value, at: ";").flatMap { TextBytes.number($0.second, upTo: 32_768) }
    }

    private static func size(_ text: some Collection<UInt8>, separator: Unicode.Scalar) -> ImageSize? {
        guard let (first, second) = HeaderText.halves(text, at: separator),
            let width = TextBytes.number(TextBytes.trimmed(first), upTo: 32_768),
            let height = TextBytes.number(TextBytes.trimmed(second), upTo: 32_768)
        else { return nil }
        return valid(ImageSize(width: width, height: height))
    }

    /// Returns the size of the rectangle `top,left,bottom,right`.
    private static func size(cliprect value: [UInt8]) -> ImageSize? {
        let numbers = value.split(separator: UInt8(ascii: ",")).compactMap { TextBytes.number($0, upTo: 32_768) }
        guard numbers.count == 4 else { return nil }
        return valid(ImageSize(width: numbers[3] - numbers[1], height: numbers[2] - numbers[0]))
    }

    private static func valid(_ size: ImageSize) -> ImageSize? { size.isValid ? size : nil }

    private static func sensible(rate: Double) -> Double? { rate > 0 && rate <= 1000 ? rate : nil }
}

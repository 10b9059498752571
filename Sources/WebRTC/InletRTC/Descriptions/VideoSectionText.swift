import InletCore

/// Writes values that an engine omits or states differently into the video sections of a description. Pure.
package enum VideoSectionText {
    /// Returns a description of this side whose video has the names of a track (RFC 8830, and RFC 5576 for receivers
    /// that read them at the SSRC).
    package static func named(_ name: TrackName, in sdp: String) -> String {
        let value = "\(name.stream) \(name.track)"
        return change(sdp) { line in
            guard let start = ssrcOfName(line) else { return line.starts(with: "a=msid:".utf8) ? nil : line }
            return start + Array(value.utf8)
        } end: {
            Array("a=msid:\(value)".utf8)
        }
    }

    /// Returns `a=ssrc:NUMBER msid:` of a line that begins so.
    private static func ssrcOfName(_ line: [UInt8]) -> [UInt8]? {
        guard line.starts(with: "a=ssrc:".utf8), let blank = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let rest = line[(blank + 1)...]
        return rest.starts(with: "msid:".utf8) ? Array(line[...blank]) + Array("msid:".utf8) : nil
    }

    /// The direction of a media section from the view of the side whose description states it (RFC 8866, 6.7).
    package struct Direction: Sendable, Hashable {
        package var sends: Bool
        package var receives: Bool

        package init(sends: Bool, receives: Bool) { (self.sends, self.receives) = (sends, receives) }

        /// The direction that an answer may state for an offer with that direction (RFC 3264, 6.1).
        package func answering(_ offer: Direction) -> Direction {
            Direction(sends: sends && offer.receives, receives: receives && offer.sends)
        }

        /// Nil if the line states no direction.
        fileprivate init?(_ line: [UInt8]) {
            guard
                let found = [(true, true), (true, false), (false, true), (false, false)].lazy
                    .map({ Direction(sends: $0, receives: $1) }).first(where: { line.elementsEqual($0.line) })
            else { return nil }
            self = found
        }

        fileprivate var line: [UInt8] {
            Array("a=\(sends ? receives ? "sendrecv" : "sendonly" : receives ? "recvonly" : "inactive")".utf8)
        }
    }

    /// Returns a description of this side whose video has a direction, and the given bit rate, if any (RFC 3890).
    ///
    /// The engine's own descriptions keep their direction: webrtcbin 1.22 cannot change that of a section in use.
    /// Sections that the engine states as inactive stay so.
    package static func stated(_ direction: Direction, bitrate: Int?, in sdp: String) -> String {
        var isRated = true
        return change(sdp) { line in
            if line.starts(with: "m=".utf8) { isRated = bitrate == nil }
            if line.starts(with: "b=".utf8), bitrate != nil { return nil }
            let line = Direction(line).map { $0.sends ? direction.line : line } ?? line
            guard !isRated, line.starts(with: "a=".utf8), let bitrate else { return line }
            isRated = true
            return Array("b=TIAS:\(bitrate)\r\n".utf8) + line
        } end: {
            nil
        }
    }

    /// Returns a description of the peer in the form that this side's engine accepts, and the direction that it states.
    ///
    /// - Parameter isTwoWay: whether the engine's own descriptions state `sendrecv`, so that the first video of the
    ///   peer must, too. Otherwise they state `sendonly`.
    package static func taken(_ sdp: String, isTwoWay: Bool) -> (sdp: String, direction: Direction) {
        var (direction, sections) = (Direction(sends: true, receives: true), 0)
        let text = change(sdp) { line in
            if media(line) != nil { sections += 1 }
            guard let stated = Direction(line) else { return line }
            if isTwoWay {
                guard sections == 1 else { return line }
                direction = stated
                return Direction(sends: true, receives: true).line
            }
            guard !stated.receives else { return line }
            direction = stated
            return Direction(sends: false, receives: true).line
        } end: {
            nil
        }
        return (text, direction)
    }

    /// Returns the SSRCs of the first video section (RFC 5576), each once. They are empty if it names none.
    package static func sources(in sdp: String) -> [UInt32] {
        var (sections, sources) = (0, [UInt32]())
        _ = change(sdp) { line in
            if media(line) != nil { sections += 1 }
            if sections == 1, line.starts(with: "a=ssrc:".utf8) {
                let digits = line.dropFirst("a=ssrc:".utf8.count).prefix { $0 != UInt8(ascii: " ") }
                let number = TextBytes.number(digits).flatMap(UInt32.init(exactly:))
                if let number, !sources.contains(number) { sources.append(number) }
            }
            return line
        } end: {
            nil
        }
        return sources
    }

    /// Returns a further offer of the peer with the one payload type that is sent since the first exchange, if the
    /// offer numbers that format otherwise, as aiortc's do: webrtcbin answers only with the number that it sends.
    ///
    /// - Parameters:
    ///   - chosen: the number in the offer.
    ///   - current: the number that is sent, which the peer knows from the first exchange.
    package static func renumbered(_ chosen: Int, as current: Int, in sdp: String) -> String {
        let formats = ["a=rtpmap:", "a=fmtp:", "a=rtcp-fb:"].map { Array($0.utf8) }
        return change(sdp) { line in
            if line.starts(with: "m=video ".utf8) {
                let words = line.split(separator: UInt8(ascii: " ")).prefix(3)
                return Array((words + [Array("\(current)".utf8)[...]]).joined(separator: [UInt8(ascii: " ")]))
            }
            guard let format = formats.first(where: { line.starts(with: $0) }) else { return line }
            let rest = line.dropFirst(format.count)
            let number = rest.prefix { $0 != UInt8(ascii: " ") }
            // Feedback for all formats stays.
            if number.elementsEqual("*".utf8) { return line }
            guard TextBytes.number(number) == chosen else { return nil }
            return format + Array("\(current)".utf8) + rest.dropFirst(number.count)
        } end: {
            nil
        }
    }

    /// Returns the words of a line `m=video` before its formats; nil for another line.
    static func media(_ line: [UInt8]) -> [UInt8]? {
        guard line.starts(with: "m=video ".utf8) else { return nil }
        return Array(line.split(separator: UInt8(ascii: " ")).prefix(3).joined(separator: [UInt8(ascii: " ")]))
    }

    /// Returns the payload types of a line `m=video`.
    static func formats(_ line: [UInt8]) -> [Int] {
        line.split(separator: UInt8(ascii: " ")).dropFirst(3).compactMap { TextBytes.number($0, upTo: 127) }
    }

    /// Returns the payload type that a line describes; nil for a line that describes all or none.
    static func format(of line: [UInt8]) -> Int? {
        for start in ["a=rtpmap:", "a=fmtp:", "a=rtcp-fb:"] where line.starts(with: start.utf8) {
            return TextBytes.number(line.dropFirst(start.utf8.count).prefix { $0 != UInt8(ascii: " ") }, upTo: 127)
        }
        return nil
    }

    /// Changes each line of the video sections, or leaves it out, and adds one at the end of each.
    static func change(
        _ sdp: String, _ body: ([UInt8]) -> [UInt8]?, end: () -> [UInt8]?
    ) -> String {
        var changed: [[UInt8]] = []
        var isVideo = false
        for line in TextBytes.lines(sdp.utf8) {
            if line.starts(with: "m=".utf8) {
                if isVideo, let last = end() { changed.append(last) }
                isVideo = line.starts(with: "m=video ".utf8)
            }
            if !isVideo { changed.append(line) } else if let line = body(line) { changed.append(line) }
        }
        if isVideo, let last = end() { changed.append(last) }
        return String(decoding: changed.map { $0 + [13, 10] }.joined(), as: UTF8.self)
    }
}

/// Writes the packets by which a receiver reports, and requests key frames and lost packets.
///
/// It appends to a buffer of the caller's, which can be reused without an allocation.
package struct RTCPWriter: Sendable {
    /// The two ways to ask for a key frame.
    package struct KeyFrameRequests: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// Picture loss indication (RFC 4585, section 6.3.1).
        package static let pictureLoss = Self(rawValue: 1)
        /// Full intra request (RFC 5104, section 4.3.1).
        package static let fullIntra = Self(rawValue: 2)
    }

    /// The receiver's own synchronization source.
    package let ssrc: UInt32
    private let name: [UInt8]
    private var intraRequests: UInt8 = 0

    /// - Parameters:
    ///   - ssrc: the receiver's own synchronization source, chosen at random.
    ///   - name: the canonical name (RFC 7022), which should be random and reveal nothing about the user. It is cut
    ///     off at 255 bytes.
    package init(ssrc: UInt32, name: [UInt8]) {
        self.ssrc = ssrc
        self.name = Array(name.prefix(255))
    }

    /// Appends a compound packet: a receiver report, the canonical name, and requests for key frames and lost packets.
    ///
    /// - Parameters:
    ///   - report: what to report; nil before the first packet of the stream.
    ///   - requests: the requests to add. Empty by default.
    ///   - missing: the sequence numbers of the packets to request, in their order. Empty by default.
    ///   - source: the synchronization source of the stream that the requests are about. Without it, no request is
    ///     added.
    package mutating func append(
        report: ReceptionReport?, requests: KeyFrameRequests = [], missing: [UInt16] = [], to source: UInt32? = nil,
        into packet: inout [UInt8]
    ) {
        appendReceiverReport(report, into: &packet)
        appendName(into: &packet)
        guard let source else { return }
        appendNACK(missing, to: source, into: &packet)
        if requests.contains(.pictureLoss) {
            appendHead(1, RTCP.PacketType.payloadFeedback, words: 2, into: &packet)
            packet.append(bigEndian: source)
        }
        if requests.contains(.fullIntra) {
            // The source that is asked is named in the request itself; the header's is unused (RFC 5104, section
            // 4.3.1.2).
            appendHead(4, RTCP.PacketType.payloadFeedback, words: 4, into: &packet)
            packet.append(bigEndian: 0)
            packet.append(bigEndian: source)
            packet.append(bigEndian: UInt32(intraRequests) << 24)
            intraRequests &+= 1
        }
    }

    /// Appends a receiver report of 8 bytes that reports nothing. Sent to a server's port, it opens the way back
    /// through a firewall.
    package func appendEmptyReport(into packet: inout [UInt8]) {
        appendReceiverReport(nil, into: &packet)
    }

    /// Appends an RTP packet of 12 bytes without a payload, for the same purpose.
    package func appendEmptyPacket(payloadType: UInt8, into packet: inout [UInt8]) {
        packet += [0x80, payloadType & 0x7F, 0, 0, 0, 0, 0, 0]
        packet.append(bigEndian: ssrc)
    }

    private func appendReceiverReport(_ report: ReceptionReport?, into packet: inout [UInt8]) {
        guard let report else {
            return appendHead(0, RTCP.PacketType.receiverReport, words: 1, into: &packet)
        }
        appendHead(1, RTCP.PacketType.receiverReport, words: 7, into: &packet)
        packet.append(bigEndian: report.ssrc)
        let lost = UInt32(bitPattern: max(-0x80_0000, min(report.lost, 0x7F_FFFF))) & 0xFF_FFFF
        packet.append(bigEndian: UInt32(report.fractionLost) << 24 | lost)
        packet.append(bigEndian: report.extendedHighestSequence)
        packet.append(bigEndian: report.jitter)
        packet.append(bigEndian: report.lastSenderReport)
        packet.append(bigEndian: report.delay)
    }

    /// A negative acknowledgement (RFC 4585, section 6.2.1): each field names a packet and any of the 16 after it.
    private func appendNACK(_ missing: [UInt16], to source: UInt32, into packet: inout [UInt8]) {
        var fields: [(first: UInt16, following: UInt16)] = []
        for sequence in missing {
            if let distance = fields.last.map({ sequence &- $0.first }), (1...16).contains(distance) {
                fields[fields.count - 1].following |= 1 << (distance - 1)
            } else {
                fields.append((sequence, 0))
            }
        }
        guard !fields.isEmpty else { return }
        appendHead(
            1, RTCP.PacketType.transportFeedback, words: UInt16(truncatingIfNeeded: 2 + fields.count), into: &packet)
        packet.append(bigEndian: source)
        for field in fields { packet.append(bigEndian: UInt32(field.first) << 16 | UInt32(field.following)) }
    }

    /// A source description with only the canonical name (RFC 3550, section 6.5).
    private func appendName(into packet: inout [UInt8]) {
        // The text is followed by one to four zeros, up to a multiple of four bytes.
        let padding = 4 - (2 + name.count) % 4
        let words = UInt16(truncatingIfNeeded: 1 + (2 + name.count + padding) / 4)
        appendHead(1, RTCP.PacketType.sourceDescription, words: words, into: &packet)
        packet += [1, UInt8(truncatingIfNeeded: name.count)]
        packet += name
        for _ in 0..<padding { packet.append(0) }
    }

    private func appendHead(_ count: UInt8, _ type: UInt8, words: UInt16, into packet: inout [UInt8]) {
        packet += [0x80 | count, type, UInt8(words >> 8), UInt8(truncatingIfNeeded: words)]
        packet.append(bigEndian: ssrc)
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: UInt32) {
        append(UInt8(truncatingIfNeeded: number >> 24))
        append(UInt8(truncatingIfNeeded: number >> 16))
        append(UInt8(truncatingIfNeeded: number >> 8))
        append(UInt8(truncatingIfNeeded: number))
    }
}

import InletCore

/// The `Transport` header (RFC 2326, section 12.39): how the packets travel.
package struct TransportHeader: Sendable, Equatable {
    /// The way packets are delivered.
    package enum Delivery: Sendable, Equatable {
        /// Interleaved in the RTSP connection.
        case tcp
        /// Datagrams to this client only.
        case unicast
        /// Datagrams to a group.
        case multicast
    }

    /// Two ports or two channels: for RTP, and for RTCP.
    package struct Pair: Sendable, Equatable {
        package var rtp: Int
        package var rtcp: Int

        package init(_ rtp: Int, _ rtcp: Int) {
            self.rtp = rtp
            self.rtcp = rtcp
        }
    }

    package var delivery: Delivery
    /// Whether the request is for the profile with early feedback (RFC 4585, section 5). The default is
    /// false.
    package var requestsFeedbackProfile = false
    /// Whether the profile is that of SRTP.
    package var isEncrypted = false
    package var interleaved: Pair?
    package var clientPorts: Pair?
    package var serverPorts: Pair?
    /// The ports of a group.
    package var ports: Pair?
    /// The address that the packets come from, as written.
    package var source: [UInt8]?
    /// The address that the packets go to, as written.
    package var destination: [UInt8]?
    package var timeToLive: Int?
    package var ssrc: UInt32?

    package init(delivery: Delivery) { self.delivery = delivery }

    /// The value of the header in a request for playing.
    package var requestValue: [UInt8] {
        var text = requestsFeedbackProfile ? "RTP/AVPF" : "RTP/AVP"
        switch delivery {
        case .tcp:
            text += "/TCP;unicast"
            if let interleaved { text += ";interleaved=\(interleaved.rtp)-\(interleaved.rtcp)" }
        case .unicast:
            text += ";unicast"
            if let clientPorts { text += ";client_port=\(clientPorts.rtp)-\(clientPorts.rtcp)" }
        case .multicast: text += ";multicast"
        }
        return Array(text.utf8)
    }

    /// Reads the header of a reply.
    ///
    /// Nothing is required: parameters come in any order, and what cannot be read or is missing is as requested.
    ///
    /// - Parameters:
    ///   - value: the header's value. If it lists several transports, the first counts.
    ///   - requested: the transport that the client requested.
    package init(reply value: [UInt8], requested: TransportHeader) {
        self = requested
        isEncrypted = false
        serverPorts = nil
        ports = nil
        // A comma may also be part of a value, so only a comma followed by a protocol begins another transport.
        for (index, text) in HeaderText.split(value, at: ",", limit: 16).enumerated() {
            if index > 0, TextBytes.lowercased(text.prefix(4)) == Array("rtp/".utf8) { break }
            for part in HeaderText.split(text, at: ";", limit: 64) where !part.isEmpty {
                take(part)
            }
        }
        // RTP/AVP without a suffix means UDP, but channels exist only in the RTSP connection (Escam Q6).
        if requested.delivery == .tcp, delivery == .unicast, serverPorts == nil { delivery = .tcp }
    }

    private mutating func take(_ part: [UInt8]) {
        let (rawName, value) = HeaderText.pair(part)
        let name = String(decoding: TextBytes.lowercased(rawName), as: UTF8.self)
        let text = value ?? []
        switch name {
        case _ where name.hasBytePrefix("rtp/savp"):
            isEncrypted = true
            take(protocol: name)
        case _ where name.hasBytePrefix("rtp/"): take(protocol: name)
        case "unicast": if delivery == .multicast { delivery = .unicast }
        case "multicast": if delivery != .tcp { delivery = .multicast }
        case "interleaved":
            guard let pair = Self.pair(text, upTo: 255) else { return }
            interleaved = pair
            if delivery == .unicast, serverPorts == nil { delivery = .tcp }
        case "client_port": clientPorts = Self.pair(text, upTo: 65_535) ?? clientPorts
        case "server_port": serverPorts = Self.pair(text, upTo: 65_535) ?? serverPorts
        case "port": ports = Self.pair(text, upTo: 65_535) ?? ports
        case "source": source = text.isEmpty ? source : text
        case "destination": destination = text.isEmpty ? destination : text
        case "ttl": timeToLive = TextBytes.number(text, upTo: 255) ?? timeToLive
        case "ssrc": ssrc = HeaderText.hexadecimal32(TextBytes.trimmed(text)) ?? ssrc
        default: break
        }
    }

    private mutating func take(protocol name: String) {
        if name.hasByteSuffix("/tcp") {
            delivery = .tcp
        } else if delivery == .tcp {
            delivery = .unicast
        }
    }

    /// Returns the pair of `5000-5001`. If the text is a single number, the second number is the next one.
    private static func pair(_ text: [UInt8], upTo most: Int) -> Pair? {
        guard let (first, second) = HeaderText.halves(text, at: "-") else {
            return TextBytes.number(TextBytes.trimmed(text), upTo: most).map { Pair($0, min($0 + 1, most)) }
        }
        guard let rtp = TextBytes.number(TextBytes.trimmed(first), upTo: most) else { return nil }
        return Pair(rtp, TextBytes.number(TextBytes.trimmed(second), upTo: most) ?? min(rtp + 1, most))
    }
}

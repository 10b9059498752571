import CSRT
import InletCore

/// An SRT socket option that can be set in an address.
struct SRTOption {
    /// The conversion of an option's text for libsrt.
    enum Kind {
        /// 0 and 1, as in libavformat, or false and true.
        case flag
        /// A 32-bit integer, in decimal or with the prefix 0x.
        case number(ClosedRange<Int64>)
        /// A 64-bit integer.
        case largeNumber
        /// Microseconds in the address, as in libavformat; milliseconds for libsrt, where -1 means never.
        case microseconds
        case text
    }

    var name: String
    var option: SRT_SOCKOPT
    var kind: Kind

    private static let counts: ClosedRange<Int64> = 0...Int64(Int32.max)

    /// The options that libavformat's `libsrt` protocol reads from an address's query, with the same names and units.
    static let all = [
        SRTOption(name: "maxbw", option: SRTO_MAXBW, kind: .largeNumber),
        SRTOption(name: "pbkeylen", option: SRTO_PBKEYLEN, kind: .number(0...32)),
        SRTOption(name: "passphrase", option: SRTO_PASSPHRASE, kind: .text),
        SRTOption(name: "streamid", option: SRTO_STREAMID, kind: .text),
        SRTOption(name: "srt_streamid", option: SRTO_STREAMID, kind: .text),
        SRTOption(name: "enforced_encryption", option: SRTO_ENFORCEDENCRYPTION, kind: .flag),
        SRTOption(name: "kmrefreshrate", option: SRTO_KMREFRESHRATE, kind: .number(counts)),
        SRTOption(name: "kmpreannounce", option: SRTO_KMPREANNOUNCE, kind: .number(counts)),
        SRTOption(name: "mss", option: SRTO_MSS, kind: .number(0...1500)),
        SRTOption(name: "ffs", option: SRTO_FC, kind: .number(counts)),
        SRTOption(name: "ipttl", option: SRTO_IPTTL, kind: .number(1...255)),
        SRTOption(name: "iptos", option: SRTO_IPTOS, kind: .number(0...255)),
        SRTOption(name: "inputbw", option: SRTO_INPUTBW, kind: .largeNumber),
        SRTOption(name: "oheadbw", option: SRTO_OHEADBW, kind: .number(5...100)),
        SRTOption(name: "latency", option: SRTO_LATENCY, kind: .microseconds),
        SRTOption(name: "tsbpddelay", option: SRTO_LATENCY, kind: .microseconds),
        SRTOption(name: "rcvlatency", option: SRTO_RCVLATENCY, kind: .microseconds),
        SRTOption(name: "peerlatency", option: SRTO_PEERLATENCY, kind: .microseconds),
        SRTOption(name: "tlpktdrop", option: SRTO_TLPKTDROP, kind: .flag),
        SRTOption(name: "snddropdelay", option: SRTO_SNDDROPDELAY, kind: .microseconds),
        SRTOption(name: "tsbpd", option: SRTO_TSBPDMODE, kind: .flag),
        SRTOption(name: "nakreport", option: SRTO_NAKREPORT, kind: .flag),
        SRTOption(name: "connect_timeout", option: SRTO_CONNTIMEO, kind: .number(counts)),
        SRTOption(name: "payload_size", option: SRTO_PAYLOADSIZE, kind: .number(0...1456)),
        SRTOption(name: "pkt_size", option: SRTO_PAYLOADSIZE, kind: .number(0...1456)),
        SRTOption(name: "sndbuf", option: SRTO_SNDBUF, kind: .number(counts)),
        SRTOption(name: "rcvbuf", option: SRTO_RCVBUF, kind: .number(counts)),
        SRTOption(name: "send_buffer_size", option: SRTO_UDP_SNDBUF, kind: .number(counts)),
        SRTOption(name: "recv_buffer_size", option: SRTO_UDP_RCVBUF, kind: .number(counts)),
        SRTOption(name: "lossmaxttl", option: SRTO_LOSSMAXTTL, kind: .number(counts)),
        SRTOption(name: "minversion", option: SRTO_MINVERSION, kind: .number(counts)),
        SRTOption(name: "smoother", option: SRTO_CONGESTION, kind: .text),
        SRTOption(name: "messageapi", option: SRTO_MESSAGEAPI, kind: .flag),
        SRTOption(name: "linger", option: SRTO_LINGER, kind: .number(0...3600)),
    ]

    /// A value to set on a socket.
    enum Value: Equatable {
        case flag(Bool)
        case number(Int32)
        case largeNumber(Int64)
        case text(String)
    }

    /// Returns whether a text leaves the option unset: libavformat's -1, or -2 where -1 has a meaning.
    func isLeftOut(by text: String) -> Bool {
        switch kind {
        case .text: false
        default: text.isSameBytes(as: option == SRTO_SNDDROPDELAY ? "-2" : "-1")
        }
    }

    /// Returns the value of a text; nil if the text is invalid.
    func value(of text: String) -> Value? {
        switch kind {
        case .flag:
            switch text {
            case "0", "false": .flag(false)
            case "1", "true": .flag(true)
            default: nil
            }
        case .number(let range):
            Self.number(text).flatMap { range.contains($0) ? Int32(exactly: $0) : nil }.map { .number($0) }
        case .largeNumber: Self.number(text).map { .largeNumber($0) }
        case .microseconds where option == SRTO_SNDDROPDELAY && text.isSameBytes(as: "-1"): .number(-1)
        case .microseconds:
            Self.number(text).flatMap { $0 >= 0 ? Int32(exactly: $0 / 1000) : nil }.map { .number($0) }
        case .text: text.isEmpty || text.contains(byte: "\0") ? nil : .text(text)
        }
    }

    private static func number(_ text: String) -> Int64? {
        guard text.hasBytePrefix("0x") else { return Int64(text) }
        let digits = text.utf8.dropFirst(2)
        guard (1...15).contains(digits.count) else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard let value = digit.hexadecimalValue else { return nil }
            number = number << 4 | Int64(value)
        }
        return number
    }
}

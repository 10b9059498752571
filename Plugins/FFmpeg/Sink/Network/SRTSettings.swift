import CSRT
import InletCore

/// The settings in an SRT address.
struct SRTSettings {
    /// The side that initiates a connection.
    enum Mode: String, CaseIterable {
        case caller, listener, rendezvous
    }

    /// The peer's host, or this machine's for a listener; empty for any address of this machine.
    let host: String
    let port: UInt16
    private(set) var mode = Mode.caller
    /// The local address to send from; nil for any.
    private(set) var adapter: String?
    /// Whether a stream without fixed packet sizes is sent instead of live media.
    private(set) var isFile = false
    /// The options in the order in which they were written.
    private(set) var options: [(option: SRTOption, value: SRTOption.Value)] = []
    /// The shorter of the limits in the sink's options and in the address.
    private(set) var connectTimeout: Duration
    private(set) var writeTimeout: Duration

    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address has no port, or if an option is unknown or
    ///   does not accept its value. The message contains no value.
    init(_ output: FFmpegOutput) throws(InletError) {
        (connectTimeout, writeTimeout) = (output.connectTimeout, output.writeTimeout)
        func refuse(_ message: String) -> InletError {
            InletError(.invalidConfiguration, message, context: .init(subject: output.redactedURI))
        }
        let address = output.destination.dropFirst(output.destination.hasBytePrefix("srt://") ? 6 : 0)
        let query = address.firstIndex(ofByte: "?")
        let authority = address[..<(query ?? address.endIndex)].prefix(upToByte: "/")
        guard let colon = authority.lastIndex(ofByte: ":"),
            let port = TextBytes.number(authority[colon...].utf8.dropFirst(), upTo: 65_535), port > 0
        else { throw refuse("srt: needs a port, as in srt://server:9000.") }
        self.port = UInt16(port)
        var host = authority[..<colon]
        if host.hasBytePrefix("["), host.hasByteSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.contains(byte: "@"), !host.contains(byte: "\0") else {
            throw refuse("SRT addresses have no user and password. Use streamid to identify the sender.")
        }
        self.host = String(host)
        for item in query.map({ address[$0...].dropFirst().split(atByte: "&", keepsEmpty: false) }) ?? [] {
            let parts = item.split(atByte: "=", limit: 1)
            let name = PercentEncoding.decode(parts[0])
            guard parts.count == 2, try set(name, to: PercentEncoding.decode(parts[1])) else {
                throw refuse("The value of SRT's option '\(name.sanitized(limit: 40))' is invalid.")
            }
        }
        for (name, value) in [("passphrase", output.passphrase), ("streamid", output.streamID)] {
            guard let value else { continue }
            guard try set(name, to: value) else { throw refuse("The \(name) is empty or contains a zero byte.") }
        }
        guard mode == .listener || !self.host.isEmpty else { throw refuse("The address has no host.") }
        try check(refuse)
    }

    /// Sets an option. Returns whether the option accepts the value.
    private mutating func set(_ name: String, to text: String) throws(InletError) -> Bool {
        switch name {
        case "mode":
            guard let mode = Mode(rawValue: text) else { return false }
            self.mode = mode
        case "transtype":
            guard text.isSameBytes(as: "live") || text.isSameBytes(as: "file") else { return false }
            isFile = text.isSameBytes(as: "file")
        case "adapter":
            guard !text.isEmpty, !text.contains(byte: "\0") else { return false }
            adapter = text
        case "timeout", "listen_timeout":
            // In microseconds, as in libavformat; a negative value means no limit.
            guard let microseconds = Int64(text) else { return false }
            guard microseconds >= 0 else { break }
            connectTimeout = min(connectTimeout, .microseconds(microseconds))
            if name == "timeout" { writeTimeout = min(writeTimeout, .microseconds(microseconds)) }
        default:
            guard let option = SRTOption.all.first(where: { $0.name.isSameBytes(as: name) }) else {
                let names = SRTOption.all.map(\.name) + ["mode", "transtype", "adapter", "timeout", "listen_timeout"]
                let hint = Spelling.nearest(to: name, among: names).map { " Did you mean '\($0)'?" } ?? ""
                throw InletError(
                    .invalidConfiguration, "SRT has no option '\(name.sanitized(limit: 40))'.\(hint)")
            }
            guard !option.isLeftOut(by: text) else { break }
            guard let value = option.value(of: text) else { return false }
            options.append((option, value))
        }
        return true
    }

    /// Rejects options that libsrt would reject without an explanation.
    private func check(_ refuse: (String) -> InletError) throws(InletError) {
        for (option, value) in options {
            switch (option.option, value) {
            case (SRTO_PASSPHRASE, .text(let text)) where !(10...79).contains(text.utf8.count):
                throw refuse("An SRT passphrase has 10 to 79 bytes.")
            case (SRTO_STREAMID, .text(let text)) where text.utf8.count > 512:
                throw refuse("An SRT streamid has at most 512 bytes.")
            case (SRTO_PBKEYLEN, .number(let length)) where ![0, 16, 24, 32].contains(length):
                throw refuse("pbkeylen is 16, 24 or 32 bytes, or 0 for the peer's choice.")
            case (SRTO_CONGESTION, .text(let text))
            where !text.isSameBytes(as: "live") && !text.isSameBytes(as: "file"):
                throw refuse("smoother is live or file.")
            default: continue
            }
        }
    }
}

extension Duration {
    /// The duration in milliseconds, libsrt's unit, limited to 24 days.
    var milliseconds: Int32 { Int32(clamping: wholeNanoseconds / 1_000_000) }
}

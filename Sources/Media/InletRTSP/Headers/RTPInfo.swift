import InletCore

/// An entry of the `RTP-Info` header (RFC 2326, section 12.33). It is a hint at most: many cameras state nonsense.
package struct RTPInfo: Sendable, Equatable {
    /// The address of the stream as written; empty if it is missing.
    package var url: [UInt8]
    /// The number of the first packet.
    package var sequence: UInt16?
    /// The time stamp that corresponds to the start of the range.
    package var timestamp: UInt32?

    package init(url: [UInt8], sequence: UInt16?, timestamp: UInt32?) {
        self.url = url
        self.sequence = sequence
        self.timestamp = timestamp
    }

    /// Reads the value of the header. At most 64 entries are returned.
    package static func all(in value: [UInt8]) -> [RTPInfo] {
        HeaderText.split(value, at: ",", limit: 64).compactMap { entry in
            var info = RTPInfo(url: [], sequence: nil, timestamp: nil)
            for part in HeaderText.split(entry, at: ";", limit: 32) {
                let (name, value) = HeaderText.pair(part)
                guard let value else { continue }
                switch String(decoding: TextBytes.lowercased(name), as: UTF8.self) {
                case "url": info.url = value
                case "seq": info.sequence = TextBytes.number(value, upTo: 65_535).map { UInt16($0) }
                case "rtptime": info.timestamp = TextBytes.number(value).map { UInt32($0) }
                default: break
                }
            }
            return info.url.isEmpty && info.sequence == nil && info.timestamp == nil ? nil : info
        }
    }
}

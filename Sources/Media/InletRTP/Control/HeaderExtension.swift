/// Finds elements of RTP header extensions (RFC 8285), in the form with headers of one byte and in that of two.
package enum HeaderExtension {
    /// Returns the range of an element's data in the packet; nil if the element is missing or cut off.
    ///
    /// - Parameters:
    ///   - number: the element's number, from 1, as negotiated.
    ///   - header: the packet's header.
    ///   - packet: the packet.
    package static func element(_ number: Int, _ header: RTPHeader, of packet: RawSpan) -> Range<Int>? {
        guard let (profile, bytes) = header.headerExtension, bytes.lowerBound >= 0,
            bytes.upperBound <= packet.byteCount
        else { return nil }
        let hasShortHeaders = profile == 0xBEDE
        guard hasShortHeaders || profile & 0xFFF0 == 0x1000 else { return nil }
        var place = bytes.lowerBound
        while place < bytes.upperBound {
            let first = Int(packet[place])
            place += 1
            // Padding between elements.
            guard first != 0 else { continue }
            let id: Int
            let length: Int
            if hasShortHeaders {
                (id, length) = (first >> 4, (first & 0x0F) + 1)
                // Nothing after this number is read (RFC 8285, 4.2).
                guard id != 15 else { return nil }
            } else {
                guard place < bytes.upperBound else { return nil }
                (id, length) = (first, Int(packet[place]))
                place += 1
            }
            guard length <= bytes.upperBound - place else { return nil }
            if id == number { return place..<place + length }
            place += length
        }
        return nil
    }
}

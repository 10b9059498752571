package import InletCore

/// The header extension with which a turned camera states how to show its pictures upright (3GPP TS 26.114, 7.4.5).
package enum VideoOrientation {
    /// Returns the clockwise rotation that shows the picture upright; nil if the packet does not state it.
    ///
    /// - Parameters:
    ///   - number: the extension's number, as negotiated.
    ///   - header: the packet's header.
    ///   - packet: the packet.
    package static func rotation(_ number: Int, _ header: RTPHeader, of packet: RawSpan) -> Rotation? {
        guard let place = HeaderExtension.element(number, header, of: packet), place.count == 1 else { return nil }
        // The last two bits count quarters of a turn clockwise; the bits before them describe the camera and mirroring.
        return Rotation(rawValue: 90 * Int(packet[place.lowerBound] & 3))
    }
}

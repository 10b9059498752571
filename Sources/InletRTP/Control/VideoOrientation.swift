package import InletCore

/// The header extension by which a camera that is turned tells how its pictures are shown upright (3GPP TS 26.114,
/// 7.4.5).
package enum VideoOrientation {
    /// Returns the clockwise rotation that shows the picture upright; nil if the packet does not state it.
    ///
    /// - Parameters:
    ///   - number: the extension's number, as negotiated.
    ///   - header: the packet's header.
    ///   - packet: the packet.
    package static func rotation(_ number: Int, _ header: RTPHeader, of packet: RawSpan) -> Rotation? {
        guard let place = HeaderExtension.element(number, header, of: packet), place.count == 1 else { return nil }
        // The last two bits count quarters of a turn clockwise; those before tell of the camera and of mirroring.
        return Rotation(rawValue: 90 * Int(packet[place.lowerBound] & 3))
    }
}

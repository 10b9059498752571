/// The devices that answered a ``DiscoveryProbe``, each once, in the order of their first answers.
///
/// However much is sent, no more is kept than ``mostDevices``, of messages no longer than ``longestMessage``.
package struct DiscoveryAnswers: Sendable {
    /// The probe that was sent.
    package let probe: DiscoveryProbe
    /// The devices so far.
    package private(set) var devices: [DiscoveredDevice] = []
    /// Whether there were more messages or devices than are taken.
    package private(set) var isCut = false

    /// The index of each device in ``devices``, by the bytes of its endpoint.
    private var places: [[UInt8]: Int] = [:]
    private var messages = 0

    /// The most bytes of an answer: what DPWS allows an envelope (MAX_ENVELOPE_SIZE).
    package static let longestMessage = 32_767
    /// The most devices that are kept.
    package static let mostDevices = 512
    /// The most messages that are looked at, those that answer nothing included.
    package static let mostMessages = 4096

    /// Starts without a device.
    package init(to probe: DiscoveryProbe) { self.probe = probe }

    /// Whether nothing more is taken.
    package var isFull: Bool { messages >= Self.mostMessages }

    /// Takes a message. A datagram that does not answer the probe is only counted.
    ///
    /// - Parameter sender: the host that it came from. The default, nil, means that it is not known.
    package mutating func take(_ message: [UInt8], from sender: [UInt8]? = nil) {
        guard !isFull else {
            isCut = true
            return
        }
        messages += 1
        if isFull { isCut = true }
        guard message.count <= Self.longestMessage,
            let found = try? DiscoveredDevice.devices(in: message, answering: probe, from: sender)
        else { return }
        for device in found {
            let endpoint = Array(device.endpoint.utf8)
            if let place = places[endpoint] {
                devices[place].add(device)
            } else if devices.count < Self.mostDevices {
                places[endpoint] = devices.count
                devices.append(device)
            } else {
                isCut = true
            }
        }
    }
}

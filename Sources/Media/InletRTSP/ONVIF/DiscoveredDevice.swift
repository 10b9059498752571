package import InletCore

/// A device as it describes itself in an answer to a ``DiscoveryProbe``. Nothing is verified.
///
/// All text is safe on a terminal, and bounded.
package struct DiscoveredDevice: Sendable, Equatable {
    /// The identifier of the device, independent of its address; usually a URN with a UUID.
    package var endpoint: String
    /// The name; empty if the device states none.
    package var name = ""
    /// The model; empty if the device states none.
    package var hardware = ""
    /// The location that the device reports, such as `country/iceland, hall 3`; empty if it reports no location.
    package var location = ""
    /// The addresses of the device service, redacted.
    package var addresses: [String] = []
    /// The addresses of the device service at the host that the answer came from, in the order in which the device
    /// states them. Not all of them need answer.
    package private(set) var services: [RTSPURL] = []

    /// The most addresses that are kept of a device.
    package static let mostAddresses = 8
    private static let mostLocations = 8
    private static let origin: StaticString = "onvif://www.onvif.org/"
    private static let longestName = 128
    private static let longestAddress = 512

    /// Makes a device of which only the address is known.
    package init(service: RTSPURL) {
        endpoint = service.serviceText
        addresses = [endpoint]
        services = [service]
    }

    /// Reads the devices of an answer: those that announce video.
    ///
    /// - Parameters:
    ///   - bytes: a SOAP envelope.
    ///   - probe: the probe that it must answer.
    ///   - sender: the host that the answer came from; nil if that is not known.
    /// - Throws: ``InletError/Code/malformedData`` if the bytes are not such an answer.
    package static func devices(
        in bytes: [UInt8], answering probe: DiscoveryProbe, from sender: [UInt8]? = nil
    ) throws(InletError) -> [DiscoveredDevice] {
        let root = try XMLReader.root(of: bytes)
        guard root.isNamed("Envelope"), root.first("Header", "RelatesTo")?.text == probe.messageID,
            let matches = root.first("Body", "ProbeMatches")
        else { throw InletError(.malformedData, "The message does not answer the probe. Probe again.") }
        return matches.children.filter { $0.isNamed("ProbeMatch") }.compactMap {
            DiscoveredDevice(match: $0, sender)
        }
    }

    private init?(match: XMLElement, _ sender: [UInt8]?) {
        guard let endpoint = match.first("EndpointReference", "Address")?.text, !endpoint.isEmpty,
            endpoint.count <= Self.longestAddress, Self.words(match.child("Types")).contains(where: Self.isCamera)
        else { return nil }
        self.endpoint = Redaction.redact(uri: String(decoding: endpoint, as: UTF8.self))
        var locations: [String] = []
        for scope in Self.words(match.child("Scopes")) {
            if name.isEmpty, let text = Self.text(of: scope, "name/") { name = text }
            if hardware.isEmpty, let text = Self.text(of: scope, "hardware/") { hardware = text }
            if locations.count < Self.mostLocations, let text = Self.text(of: scope, "location/") {
                locations.append(text)
            }
        }
        location = locations.joined(separator: ", ")
        for address in Self.words(match.child("XAddrs")) { add(address, sender) }
    }

    private mutating func add(_ address: ArraySlice<UInt8>, _ sender: [UInt8]?) {
        guard address.count <= Self.longestAddress, var url = RTSPURL(http: Array(address)) else { return }
        if url.host == sender {
            url.credentials = nil
            add(service: url)
        }
        add(Redaction.redact(uri: String(decoding: address, as: UTF8.self)))
    }

    /// Adds an address that is redacted already, unless it is there or there are enough.
    mutating func add(_ address: String) {
        guard addresses.count < Self.mostAddresses, !addresses.contains(where: { $0.utf8.elementsEqual(address.utf8) })
        else { return }
        addresses.append(address)
    }

    /// Adds what the device states in another answer.
    mutating func add(_ other: DiscoveredDevice) {
        for address in other.addresses { add(address) }
        for service in other.services { add(service: service) }
    }

    private mutating func add(service: RTSPURL) {
        if services.count < Self.mostAddresses, !services.contains(service) { services.append(service) }
    }

    private static func words(_ element: XMLElement?) -> [ArraySlice<UInt8>] {
        element?.text.split { [0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? []
    }

    /// Whether a qualified name is that of ONVIF's cameras and encoders, whatever its prefix.
    private static func isCamera(_ type: ArraySlice<UInt8>) -> Bool {
        let local = type.lastIndex(of: UInt8(ascii: ":")).map { type[($0 + 1)...] } ?? type
        return local.elementsEqual("NetworkVideoTransmitter".utf8)
    }

    /// Returns the decoded value of an ONVIF scope after a kind such as `name/`; nil if the scope is of another kind or
    /// has no value.
    private static func text(of scope: ArraySlice<UInt8>, _ kind: StaticString) -> String? {
        let origin = scope.prefix(Self.origin.utf8CodeUnitCount)
        let rest = scope.dropFirst(origin.count)
        let length = kind.utf8CodeUnitCount
        guard rest.count > length, TextBytes.isSame(origin, ignoringCase: Self.origin),
            TextBytes.isSame(rest.prefix(length), ignoringCase: kind)
        else { return nil }
        // An escape takes three bytes, and no more than are shown are decoded.
        let value = rest.dropFirst(length).prefix(3 * longestName + 3)
        return PercentEncoding.decode(String(decoding: value, as: UTF8.self)).sanitized(limit: longestName)
    }
}

package import InletCore

/// The answer of an ONVIF service.
package enum ONVIFAnswer: Sendable, Equatable {
    /// The element inside the body, whose name is the request's followed by `Response`.
    case response(XMLElement)
    /// A fault, with the local names of its codes, the most general first.
    case fault([[UInt8]])

    /// Reads a SOAP 1.2 envelope. Faults may be of SOAP 1.1.
    ///
    /// - Throws: ``InletError/Code/malformedData`` if the bytes are not such an envelope, or answer another request.
    package init(_ bytes: [UInt8], to request: ONVIFRequest) throws(InletError) {
        let root = try XMLReader.root(of: bytes)
        guard root.isNamed("Envelope"), let body = root.child("Body") else {
            throw InletError(
                .malformedData, "The answer is XML, but not SOAP. Check the address of the device service.")
        }
        if let fault = body.child("Fault") {
            self = .fault(Self.codes(of: fault))
            return
        }
        let name = Array("\(request.name)Response".utf8)
        guard let response = body.children.first(where: { $0.name == name }) else {
            throw InletError(.malformedData, "The ONVIF service's answer is not one to \(request.name).")
        }
        self = .response(response)
    }

    private static func codes(of fault: XMLElement) -> [[UInt8]] {
        func local(_ text: [UInt8]) -> [UInt8] {
            Array((text.lastIndex(of: UInt8(ascii: ":")).map { text[($0 + 1)...] } ?? text[...]).prefix(64))
        }
        // SOAP 1.1, section 4.4.
        if let code = fault.child("faultcode") { return [local(code.text)] }
        // SOAP 1.2 part 1, section 5.4.6: codes are nested.
        var codes: [[UInt8]] = []
        var element = fault.child("Code")
        while let current = element {
            if let value = current.child("Value") { codes.append(local(value.text)) }
            element = current.child("Subcode")
        }
        return codes
    }

    /// Whether the codes mean that the request's credentials are missing or wrong: ONVIF's own code, and those of
    /// the OASIS WSS SOAP Message Security specification, section 12.
    static func isAuthenticationFault(_ codes: [[UInt8]]) -> Bool {
        let known: [StaticString] = [
            "NotAuthorized", "FailedAuthentication", "InvalidSecurity", "InvalidSecurityToken", "MessageExpired",
        ]
        return codes.contains { code in known.contains { code.elementsEqual("\($0)".utf8) } }
    }
}

/// The values that are read from answers.
extension XMLElement {
    /// Returns the address of a media service from `GetServicesResponse` or `GetCapabilitiesResponse`.
    func mediaAddress(_ version: ONVIFRequest.MediaVersion) -> [UInt8]? {
        let service = children.first { service in
            guard service.isNamed("Service"), let namespace = service.child("Namespace")?.text else { return false }
            return namespace.elementsEqual("\(version.namespace)".utf8)
        }
        if let service { return service.child("XAddr")?.text }
        // Capabilities are older than the second media service.
        return version == .media1 ? first("Capabilities", "Media", "XAddr")?.text : nil
    }

    /// The address of the event service from `GetServicesResponse` or `GetCapabilitiesResponse`.
    var eventAddress: [UInt8]? {
        let service = children.first { service in
            guard service.isNamed("Service"), let namespace = service.child("Namespace")?.text else { return false }
            return namespace.elementsEqual("http://www.onvif.org/ver10/events/wsdl".utf8)
        }
        return service?.child("XAddr")?.text ?? first("Capabilities", "Events", "XAddr")?.text
    }

    /// The tokens of the profiles from `GetProfilesResponse`.
    var profileTokens: [[UInt8]] {
        children.filter { $0.isNamed("Profiles") }.compactMap { $0.attribute("token") }
            .filter { !$0.isEmpty && $0.count <= 256 }
    }

    /// The address of a stream from `GetStreamUriResponse` of either service.
    var streamAddress: [UInt8]? { (first("MediaUri", "Uri") ?? child("Uri"))?.text }
}

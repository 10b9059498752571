public import InletCore

extension RTCConfiguration {
    /// Reads the JSON form, strictly by RFC 8259.
    ///
    /// - Parameters:
    ///   - json: the text, in UTF-8, at most ``longest`` bytes.
    ///   - file: the file of the text, for errors. The default, nil, is no file.
    /// - Throws: ``InletError/Code/invalidConfiguration`` with the file, the line, the key and what is allowed, if the
    ///   text is not JSON, or a key is unknown, occurs twice or has a value of another type or out of range, and as
    ///   ``validate()`` does. The error quotes no address and no credential.
    public init(json: [UInt8], file: String? = nil) throws(InletError) {
        self = try Self.parse(json, file: file)
        try validate(file: file)
    }

    /// Reads the JSON form, but does not check whether values contradict each other or are used: options may yet change
    /// them.
    package static func parse(_ json: [UInt8], file: String?) throws(InletError) -> RTCConfiguration {
        guard json.count <= longest else { throw error(file, key: "", "it is longer than \(longest) bytes") }
        let value: JSONValue
        do throws(InletError) {
            value = try JSONReader.read(json)
        } catch {
            // The reader's message begins with the line.
            throw InletError(.invalidConfiguration, "\(file ?? "The WebRTC configuration"), \(error.message).")
        }
        return try RTCConfigurationReader(file: file).configuration(value)
    }
}

extension RTCConfiguration: Codable {
    /// Reads the JSON form from a decoder.
    ///
    /// - Throws: as ``init(json:file:)``, without file and line. The decoder decides whether a key may occur twice.
    public init(from decoder: any Decoder) throws {
        self = try RTCConfigurationReader(file: nil).configuration(DecodedJSON(from: decoder).value)
        try validate(file: nil)
    }

    /// Writes the JSON form, with the credentials of relays: the text is a secret if there are any.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(rateControl.rawValue, forKey: .rateControl)
        for key in Key.allCases {
            guard let number = number(of: key) else { continue }
            if let whole = Int(exactly: number) {
                try container.encode(whole, forKey: key)
            } else {
                try container.encode(number, forKey: key)
            }
        }
        if !iceServers.isEmpty {
            try container.encode(iceServers.map(EncodedServer.init), forKey: .iceServers)
        }
        if isRelayOnly { try container.encode(true, forKey: .relayOnly) }
    }

    /// A server in the form of W3C's `RTCIceServer`.
    private struct EncodedServer: Encodable {
        let urls: String
        let username: String?
        let credential: String?

        init(_ server: ICEServer) {
            urls = server.uri
            // A STUN server needs no login.
            username = server.scheme == .stun ? nil : server.user
            credential = server.scheme == .stun ? nil : server.password
        }
    }
}

/// A value that any decoder reads, as the reader of JSON returns it.
private struct DecodedJSON: Decodable {
    let value: JSONValue

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= JSONReader.deepest else {
            throw RTCConfiguration.error(nil, key: "", "lists and objects are nested too deep")
        }
        value = JSONValue(content: try Self.content(of: decoder), line: 0)
    }

    private static func content(of decoder: any Decoder) throws -> JSONValue.Content {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            let members = try object.allKeys.map { key in
                JSONMember(key: key.stringValue, value: try object.decode(DecodedJSON.self, forKey: key).value)
            }
            // Decoders have no order of keys; errors must be the same each time.
            return .object(members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        }
        if var list = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !list.isAtEnd { elements.append(try list.decode(DecodedJSON.self).value) }
            return .array(elements)
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() { return .null }
        if let boolean = try? single.decode(Bool.self) { return .boolean(boolean) }
        if let number = try? single.decode(Int.self) { return .number("\(number)") }
        if let number = try? single.decode(Double.self) { return .number("\(number)") }
        return .string(try single.decode(String.self))
    }
}

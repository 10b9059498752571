package import InletCore

/// A camera that answered a search of the network. Nothing of it is verified.
package struct FoundCamera: Sendable {
    /// What it calls itself, its model, and where it says that it is; empty if it states none.
    package var name, hardware, location: String
    /// The addresses that it states, without credentials.
    package var addresses: [String]
    /// The URI of a source for it, without credentials; nil if none of its addresses is that of the host that answered.
    package var source: String?

    package init(name: String, hardware: String, location: String, addresses: [String], source: String?) {
        (self.name, self.hardware, self.location) = (name, hardware, location)
        (self.addresses, self.source) = (addresses, source)
    }

    var json: JSONValue {
        .object([
            ("name", .text(name)), ("hardware", .text(hardware)), ("location", .text(location)),
            ("addresses", .list(addresses.map(JSONValue.text))), ("source", source.map { .text($0) } ?? .null),
        ])
    }
}

/// The cameras that answered, and what went wrong meanwhile.
package struct FoundCameras: Sendable {
    package var cameras: [FoundCamera]
    /// Sentences about interfaces that could not be asked on, and about answers that were left out.
    package var troubles: [String]

    package init(cameras: [FoundCamera], troubles: [String]) { (self.cameras, self.troubles) = (cameras, troubles) }
}

/// Searches the networks of this machine for cameras.
package struct CameraSearch: Sendable {
    /// Blocks its thread for the time that it is given, and no longer.
    let run: @Sendable (Duration) -> Result<FoundCameras, InletError>

    package init(_ run: @escaping @Sendable (Duration) -> Result<FoundCameras, InletError>) { self.run = run }
}

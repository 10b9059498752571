package import InletCore

/// A camera that answered a search of the network. Its statements are not verified.
package struct FoundCamera: Sendable {
    /// The camera's name, model and location, as it reports them; empty if not reported.
    package var name, hardware, location: String
    /// The addresses that the camera reports, without credentials.
    package var addresses: [String]
    /// The URIs of sources for the camera, without credentials: one for each of its addresses, at the host that
    /// answered. Some of them may not work.
    package var sources: [String]

    package init(name: String, hardware: String, location: String, addresses: [String], sources: [String]) {
        (self.name, self.hardware, self.location) = (name, hardware, location)
        (self.addresses, self.sources) = (addresses, sources)
    }

    var json: JSONValue {
        .object([
            ("name", .text(name)), ("hardware", .text(hardware)), ("location", .text(location)),
            ("addresses", .list(addresses.map(JSONValue.text))), ("source", sources.first.map { .text($0) } ?? .null),
            ("sources", .list(sources.map(JSONValue.text))),
        ])
    }
}

/// The cameras that answered, and the problems of the search.
package struct FoundCameras: Sendable {
    package var cameras: [FoundCamera]
    /// Sentences about interfaces that could not be searched, and about answers that were omitted.
    package var troubles: [String]

    package init(cameras: [FoundCamera], troubles: [String]) { (self.cameras, self.troubles) = (cameras, troubles) }
}

/// Searches the networks of this machine for cameras.
package struct CameraSearch: Sendable {
    /// Blocks its thread for at most the given time.
    let run: @Sendable (Duration) -> Result<FoundCameras, InletError>

    package init(_ run: @escaping @Sendable (Duration) -> Result<FoundCameras, InletError>) { self.run = run }
}

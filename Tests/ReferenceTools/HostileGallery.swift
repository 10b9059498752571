import Foundation

/// What `http-hostile.py` printed.
public struct HostileGallery: Decodable, Sendable {
    /// What was not as it should be.
    public var trouble: [String]
    /// Each kind of hostile client.
    public var attacks: [String: Attack]

    /// What came of one kind.
    public struct Attack: Decodable, Sendable {
        /// How often the rightful client was served.
        public var served: Int?
        /// How long that took at most.
        public var slowestS: Double?
        /// How much more memory the server had than before, at most.
        public var growthKib: Int?
    }

    /// What the script is told besides what it attacks. `INLET_SECONDS` is how long each attack takes, `INLET_GROWTH`
    /// the memory that there may be more.
    public static var options: [String] {
        let environment = ProcessInfo.processInfo.environment
        return ["--seconds", environment["INLET_SECONDS"] ?? "2"]
            + (environment["INLET_GROWTH"].map { ["--growth", $0] } ?? [])
    }

    /// Runs the script, which starts `inlet` and has its clients attack it, and prints the figures.
    ///
    /// - Parameter kind: what is attacked: `preview`, `webrtc` or `serve`.
    public static func run(against kind: String) async throws -> HostileGallery {
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            ["-B", PeerProcess.path("http-hostile.py"), kind, "--inlet", BuiltProgram.inlet] + options)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let gallery = try decoder.decode(HostileGallery.self, from: output)
        gallery.show()
        return gallery
    }

    /// Prints the figures.
    public func show() {
        for (name, attack) in attacks.sorted(by: { $0.key < $1.key }) {
            print(
                "\(name): a rightful client was served \(attack.served ?? 0) times, after \(attack.slowestS ?? 0) s at most; \(attack.growthKib ?? 0) KiB more"
            )
        }
    }
}

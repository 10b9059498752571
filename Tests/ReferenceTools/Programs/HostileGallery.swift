import Foundation

/// The output of `http-hostile.py`.
public struct HostileGallery: Decodable, Sendable {
    /// The errors that were found.
    public var trouble: [String]
    /// The results for each kind of hostile client.
    public var attacks: [String: Attack]

    /// The results for one kind of hostile client.
    public struct Attack: Decodable, Sendable {
        /// How many requests of the legitimate client were answered.
        public var served: Int?
        /// The longest time of such a request.
        public var slowestS: Double?
        /// The highest growth of the server's memory.
        public var growthKib: Int?
    }

    /// Options for the script. `INLET_SECONDS` sets the duration of each attack, `INLET_GROWTH` the allowed growth of
    /// memory.
    public static var options: [String] {
        let environment = ProcessInfo.processInfo.environment
        return ["--seconds", environment["INLET_SECONDS"] ?? "2"]
            + (environment["INLET_GROWTH"].map { ["--growth", $0] } ?? [])
    }

    /// Runs the script and prints the results. The script starts `inlet` and attacks it with its clients.
    ///
    /// - Parameter kind: the target of the attack: `preview`, `webrtc` or `serve`.
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

    /// Prints the results.
    public func show() {
        for (name, attack) in attacks.sorted(by: { $0.key < $1.key }) {
            print(
                "\(name): a rightful client was served \(attack.served ?? 0) times, after \(attack.slowestS ?? 0) s at most; \(attack.growthKib ?? 0) KiB more"
            )
        }
    }
}

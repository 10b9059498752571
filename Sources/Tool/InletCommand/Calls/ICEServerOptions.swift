import ArgumentParser
import Inlet
import InletRTC

/// Addresses of STUN and TURN servers, and their settings. The names are those of the options of `webrtc:`.
struct ICEServerOptions: ParsableArguments {
    @Option(help: "STUN servers as HOST:PORT, separated by commas.")
    var stun: String?

    @Option(help: "Relays as HOST:PORT, separated by commas, each with turns: or ?transport=tcp if needed.")
    var turn: String?

    @Option(help: "The user name for the relays.")
    var turnUser: String?

    @Option(help: "The password for the relays. Other users of this machine may see it; the next two are safer.")
    var turnPassword: String?

    @Option(help: "A file that holds the password.", completion: .file())
    var turnPasswordFile: String?

    @Option(help: "The environment variable that holds the password.")
    var turnPasswordEnv: String?

    @Option(help: "The secret shared with the relays, instead of user and password.")
    var turnSecret: String?

    @Option(help: "A file that holds the secret.", completion: .file())
    var turnSecretFile: String?

    @Option(help: "The environment variable that holds the secret.")
    var turnSecretEnv: String?

    private var passwords: [String] { [turnPassword, turnPasswordFile, turnPasswordEnv].compactMap(\.self) }
    private var secrets: [String] { [turnSecret, turnSecretFile, turnSecretEnv].compactMap(\.self) }

    func validate() throws {
        guard passwords.count <= 1 else {
            throw ValidationError("Give one of --turn-password, --turn-password-file and --turn-password-env.")
        }
        guard secrets.count <= 1 else {
            throw ValidationError("Give one of --turn-secret, --turn-secret-file and --turn-secret-env.")
        }
        let hasUser = turnUser != nil || !passwords.isEmpty
        guard turn != nil else {
            guard !hasUser, secrets.isEmpty else {
                throw ValidationError("Credentials for a relay are given, but no relay. Add --turn HOST:PORT.")
            }
            return
        }
        guard !hasUser || secrets.isEmpty else {
            throw ValidationError("--turn-secret replaces --turn-user and --turn-password. Give one or the other.")
        }
        guard !secrets.isEmpty || (turnUser != nil && !passwords.isEmpty) else {
            throw ValidationError("A relay needs --turn-user and --turn-password, or --turn-secret.")
        }
    }

    /// Returns the servers, with the secrets read from their files or variables.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if an address is invalid or a secret cannot be read.
    func servers() throws(InletError) -> ICEServers {
        try ICEServers(
            stun: stun, turn: turn, user: turnUser,
            password: try Self.secret("--turn-password", turnPassword, turnPasswordFile, turnPasswordEnv),
            secret: try Self.secret("--turn-secret", turnSecret, turnSecretFile, turnSecretEnv))
    }

    private static func secret(
        _ option: String, _ text: String?, _ file: String?, _ variable: String?
    ) throws(InletError) -> String? {
        if let file { return try LocalAccess.system.secret(.file(file), option: option + "-file") }
        if let variable { return try LocalAccess.system.secret(.variable(variable), option: option + "-env") }
        return text
    }
}

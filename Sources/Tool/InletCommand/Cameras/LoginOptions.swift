import ArgumentParser
import Inlet
import InletRTSP
import RTSPSource

/// The settings with which `inlet discover` queries cameras for their profiles.
struct LoginOptions: ParsableArguments {
    @Option(help: "Query each camera for its profiles and the addresses of their streams, as this user.")
    var login: String?

    @Option(help: "A file that holds the password.", completion: .file())
    var passwordFile: String?

    @Option(help: "The environment variable that holds the password.")
    var passwordEnv: String?

    @Option(
        help: """
            With --login: a camera's host or host:port, or the address of its device service, to query instead of \
            searching the network; may be repeated.
            """)
    var device: [String] = []

    @Option(
        name: .customLong("tls-ca"),
        help: "A PEM file of certificate authorities for cameras with https. The default is the system's.",
        completion: .file(extensions: ["pem", "crt"]))
    var authorities: String?

    @Option(name: .customLong("tls-verify"), help: "Whether the certificates of cameras are checked.")
    var isVerified = true

    func validate() throws {
        let places = [passwordFile, passwordEnv].compactMap(\.self)
        guard login != nil else {
            guard places.isEmpty, device.isEmpty else {
                throw ValidationError("--password-file, --password-env and --device need --login USER.")
            }
            return
        }
        guard places.count == 1 else {
            throw ValidationError("--login needs the password: give --password-file or --password-env.")
        }
    }

    /// The device services that are named; nil without any.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for an invalid address.
    func devices() throws(InletError) -> [RTSPURL]? {
        guard !device.isEmpty else { return nil }
        return try device.map { text throws(InletError) in try RTSPURL(device: Array(text.utf8)) }
    }

    /// Returns the devices' answers; nil for each device if no login was requested.
    ///
    /// - Parameter services: the addresses of each device's service that may be asked.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the password cannot be read, and
    ///   ``InletError/Code/resourceExhausted``.
    func answers(of services: [[RTSPURL]]) throws(InletError) -> [DeviceLogin.Answer?] {
        guard let login else { return services.map { _ in nil } }
        var asking = DeviceLogin(user: login, password: try password(), clock: SystemClock())
        asking.certificateAuthorities = authorities
        asking.verifiesCertificate = isVerified
        var answers = try asking.profiles(of: services.filter { !$0.isEmpty })[...]
        let stranger = InletError(
            .addressRefused,
            "Not queried: none of the addresses that it reports is that of the host that answered. "
                + "If the camera is yours, query it with --device.")
        return services.map { $0.isEmpty ? DeviceLogin.Answer(.failure(stranger)) : answers.popFirst() }
    }

    private func password() throws(InletError) -> String {
        if let passwordFile {
            return try LocalAccess.system.secret(.file(passwordFile), option: "--password-file")
        }
        return try LocalAccess.system.secret(.variable(passwordEnv ?? ""), option: "--password-env")
    }
}

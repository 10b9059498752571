import ArgumentParser
import Inlet
import InletServe

/// The health check of `inlet serve` for containers and supervisors.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Checks the health of inlet serve, for containers and supervisors.",
        discussion: """
            Exits with 0 if the daemon answers in time; otherwise with another code, after printing the reason on one \
            line. Needs no token. The certificate is checked unless the address is this machine's own, such as \
            127.0.0.1. Examples:

              inlet health
              inlet health https://127.0.0.1:8443 --ready --timeout 2
            """)

    @Argument(help: "The address of the daemon's page.")
    var address = "http://127.0.0.1:8080"

    @Flag(help: "Also require that the daemon has started its cameras and is not shutting down.")
    var ready = false

    @Option(help: "How many seconds to wait for the answer, 0.1 to 60. The default is 5.")
    var timeout = 5.0

    func validate() throws {
        guard (0.1...60).contains(timeout) else { throw ValidationError("--timeout takes 0.1 to 60 seconds.") }
    }

    func run() async throws {
        try await DaemonHealth(at: address).check(asksForReadiness: ready, limit: .milliseconds(Int64(timeout * 1000)))
    }
}

import ArgumentParser
import FoundationEssentials
import Inlet
import InletRTSP
import RTSPSource

struct DiscoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Lists the ONVIF cameras in this machine's networks.",
        discussion: """
            The search uses multicast (WS-Discovery), which routers do not forward. Answers are shown as received; no \
            address in them is contacted without --login.

            With --login, each camera is queried for its time, its profiles and the addresses of their streams. It \
            receives a digest of the password, as does any device that claims to be a camera. --device queries \
            cameras that multicast does not reach.

            Examples:

              inlet discover
              inlet discover --interface eth0 --timeout 10
              inlet discover --json
              inlet discover --login viewer --password-file /run/secrets/camera
              inlet discover --login viewer --password-env CAMERA --device 192.0.2.7
            """)

    @Option(help: "The interface to search on; may be repeated. The default is all that are up and support multicast.")
    var interface: [String] = []

    @Option(help: "How many seconds to wait for answers, 0.2 to 60. The default is 3.")
    var timeout = 3.0

    @OptionGroup var login: LoginOptions

    @Flag(help: "Print one JSON array instead of a table.")
    var json = false

    func validate() throws {
        guard (0.2...60).contains(timeout) else { throw ValidationError("--timeout takes 0.2 to 60 seconds.") }
    }

    func run() throws {
        let found = try login.devices()?.map { (DiscoveredDevice(service: $0), [$0]) } ?? search()
        let answers = try login.answers(of: found.map(\.services))
        let listings = zip(found, answers).map { DeviceListing($0.device, $1) }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(listings), as: UTF8.self))
        } else if listings.isEmpty {
            Terminal.writeError(
                """
                No camera answered. Many cameras have ONVIF or its discovery switched off. Check the camera's \
                settings, and UDP in the firewall of this machine.

                """)
        } else {
            print(DeviceListing.table(of: listings))
        }
    }

    /// Searches for cameras by multicast.
    private func search() throws -> [(device: DiscoveredDevice, services: [RTSPURL])] {
        var discovery = DeviceDiscovery()
        discovery.interfaces = interface
        discovery.timeout = .milliseconds(Int64(timeout * 1000))
        let (answers, troubles) = try discovery.run()
        for trouble in troubles { Terminal.writeError("\(trouble)\n") }
        if answers.isCut {
            Terminal.writeError("Too many answers; some are missing. Search on one --interface at a time.\n")
        }
        return answers.devices.map { ($0, $0.services) }
    }
}

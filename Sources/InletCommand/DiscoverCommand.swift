import ArgumentParser
import FoundationEssentials
import Inlet
import InletRTSP
import RTSPSource

struct DiscoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Lists the ONVIF cameras of the networks that this machine is in.",
        discussion: """
            Cameras are asked by multicast (WS-Discovery), which no router passes on. What they answer is shown as \
            they state it; no address is contacted without --login.

            With --login each camera is asked for its time, its profiles and the addresses of their streams. It gets a \
            digest of the password, and so does whatever claims to be a camera. --device asks cameras that no \
            multicast reaches.

            Examples:

              inlet discover
              inlet discover --interface eth0 --timeout 10
              inlet discover --json
              inlet discover --login viewer --password-file /run/secrets/camera
              inlet discover --login viewer --password-env CAMERA --device 192.0.2.7
            """)

    @Option(help: "The interface to ask on; may be repeated. The default is all that are up and know multicast.")
    var interface: [String] = []

    @Option(help: "How many seconds to wait for answers, 0.2 to 60. The default is 3.")
    var timeout = 3.0

    @OptionGroup var login: LoginOptions

    @Flag(help: "One JSON array instead of a table for people.")
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
                No camera answered. Many have ONVIF or its discovery switched off: see the camera's settings, and the \
                firewall of this machine for UDP.

                """)
        } else {
            print(DeviceListing.table(of: listings))
        }
    }

    /// Asks cameras by multicast.
    private func search() throws -> [(device: DiscoveredDevice, services: [RTSPURL])] {
        var discovery = DeviceDiscovery()
        discovery.interfaces = interface
        discovery.timeout = .milliseconds(Int64(timeout * 1000))
        let (answers, troubles) = try discovery.run()
        for trouble in troubles { Terminal.writeError("\(trouble)\n") }
        if answers.isCut {
            Terminal.writeError("There were more answers than are taken. Ask on one --interface at a time.\n")
        }
        return answers.devices.map { ($0, $0.services) }
    }
}

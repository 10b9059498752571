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
            they state it; no address is contacted.

            Examples:

              inlet discover
              inlet discover --interface eth0 --timeout 10
              inlet discover --json
            """)

    @Option(help: "The interface to ask on; may be repeated. The default is all that are up and know multicast.")
    var interface: [String] = []

    @Option(help: "How many seconds to wait for answers, 0.2 to 60. The default is 3.")
    var timeout = 3.0

    @Flag(help: "One JSON array instead of a table for people.")
    var json = false

    func validate() throws {
        guard (0.2...60).contains(timeout) else { throw ValidationError("--timeout takes 0.2 to 60 seconds.") }
    }

    func run() throws {
        var discovery = DeviceDiscovery()
        discovery.interfaces = interface
        discovery.timeout = .milliseconds(Int64(timeout * 1000))
        let (answers, troubles) = try discovery.run()
        for trouble in troubles { Terminal.writeError("\(trouble)\n") }
        if answers.isCut {
            Terminal.writeError("There were more answers than are taken. Ask on one --interface at a time.\n")
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(answers.devices.map(Listing.init)), as: UTF8.self))
        } else if answers.devices.isEmpty {
            Terminal.writeError(
                """
                No camera answered. Many have ONVIF or its discovery switched off: see the camera's settings, and the \
                firewall of this machine for UDP.

                """)
        } else {
            print(Self.table(of: answers.devices))
        }
    }

    /// Returns a line for each device, below a line with headings. A device with several addresses takes several lines.
    static func table(of devices: [DiscoveredDevice]) -> String {
        var rows = [["NAME", "HARDWARE", "LOCATION", "ADDRESS"]]
        for device in devices {
            let words = [device.name, device.hardware, device.location].map { $0.isEmpty ? "-" : $0 }
            rows.append(words + [device.addresses.first ?? device.endpoint])
            for address in device.addresses.dropFirst() { rows.append(["", "", "", address]) }
        }
        let widths = (0..<3).map { column in rows.map { $0[column].unicodeScalars.count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { text, width in
                text + String(repeating: " ", count: width - text.unicodeScalars.count)
            }
            return (cells + [row[3]]).joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// A device in the JSON output.
    private struct Listing: Encodable {
        var endpoint: String
        var name: String
        var hardware: String
        var location: String
        var addresses: [String]

        init(_ device: DiscoveredDevice) {
            (endpoint, name, hardware) = (device.endpoint, device.name, device.hardware)
            (location, addresses) = (device.location, device.addresses)
        }
    }
}

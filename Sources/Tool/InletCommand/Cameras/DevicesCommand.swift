import ArgumentParser
import FoundationEssentials
import Inlet

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Lists the cameras of this machine and their capabilities.",
        discussion: """
            Examples:

              inlet devices
              inlet devices --formats
              inlet devices --json
              inlet devices --watch
            """)

    @Flag(help: "Print one JSON array instead of text; with --watch, one object a line.")
    var json = false

    @Flag(help: "Report every camera that is plugged in or removed, until interrupted.")
    var watch = false

    @Flag(help: "List every format with its sizes and rates.")
    var formats = false

    @Flag(help: "List output devices, such as loopbacks, instead of cameras.")
    var outputs = false

    func run() async throws {
        let role: V4L2Devices.Role = outputs ? .output : .capture
        guard watch else {
            let devices = V4L2Devices.list(role)
            if json {
                print(try Self.json(devices.map(Listing.init)))
            } else if devices.isEmpty {
                Terminal.writeError(
                    "No \(outputs ? "output device" : "camera") found. Plug one in, or pass it to the container.\n"
                )
            }
            if !json { for device in devices { print(text(device)) } }
            return
        }
        let changes = try V4L2Devices.changes(role)
        let reading = Task {
            for await change in changes { show(change) }
        }
        let interrupt = Interrupt { reading.cancel() }
        await reading.value
        withExtendedLifetime(interrupt) {}
    }

    private func show(_ change: V4L2Devices.Change) {
        let (word, device) =
            switch change {
            case .appeared(let device): ("appeared", device)
            case .disappeared(let device): ("disappeared", device)
            }
        if json {
            let line = (try? Self.json(ChangeListing(change: word, device: Listing(device)))) ?? "{}"
            Terminal.writeOutput(line + "\n")
        } else {
            Terminal.writeOutput("\(word) \(device.node)  \(device.identity.name) at \(device.identity.bus)\n")
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func text(_ device: V4L2DeviceInfo) -> String {
        let identity = device.identity
        var lines = ["\(device.node)  \(identity.name)"]
        if let trouble = device.trouble { return (lines + ["  \(trouble)"]).joined(separator: "\n") }
        lines.append("  driver  \(device.driver) \(device.driverVersion), at \(identity.bus)")
        if let id = identity.id { lines.append("  id      \(id)") }
        if let path = identity.path { lines.append("  path    \(path)") }
        if let serial = identity.serial { lines.append("  serial  \(serial)") }
        guard formats else {
            let names = device.formats.map(\.fourCC.description)
            let shown = names.prefix(12).joined(separator: " ")
            lines.append("  formats \(shown)\(names.count > 12 ? " and \(names.count - 12) more" : "")")
            if let best = device.bestSize { lines.append("  largest \(best)") }
            return lines.joined(separator: "\n")
        }
        for format in device.formats {
            lines.append("  \(format.fourCC)  \(format.summary)")
            for sizes in format.sizes { lines.append("    \(Self.text(sizes))") }
        }
        return lines.joined(separator: "\n")
    }

    static func text(_ sizes: V4L2FrameSizes) -> String {
        let range =
            sizes.step.map { "\(sizes.least) to \(sizes.greatest) in steps of \($0)" } ?? "\(sizes.least)"
        switch sizes.rates {
        case .discrete(let rates) where rates.isEmpty: return range
        case .discrete(let rates):
            return "\(range) at \(rates.map(\.doubleValue.shortText).joined(separator: ", ")) fps"
        case .range(let lowest, let highest):
            return "\(range) at \(lowest.doubleValue.shortText) to \(highest.doubleValue.shortText) fps"
        }
    }

    private struct ChangeListing: Encodable {
        var change: String
        var device: Listing
    }

    /// A device in the JSON output.
    private struct Listing: Encodable {
        var node: String
        var name: String
        var driver: String
        var driverVersion: String
        var bus: String
        var id: String?
        var path: String?
        var serial: String?
        var capabilities: UInt32
        var trouble: String?
        var formats: [Format]
        var controls: [ControlsCommand.Listing]

        struct Format: Encodable {
            var format: FourCC
            var summary: String
            var compressed: Bool
            var emulated: Bool
            var sizes: [Sizes]
        }

        struct Sizes: Encodable {
            var least: String
            var greatest: String
            var step: String?
            var rates: [String]
            /// Whether any rate between the first and the last is supported.
            var continuousRates: Bool
        }

        init(_ device: V4L2DeviceInfo) {
            node = device.node
            name = device.identity.name
            driver = device.driver
            driverVersion = device.driverVersion
            bus = device.identity.bus
            id = device.identity.id
            path = device.identity.path
            serial = device.identity.serial
            capabilities = device.capabilities.rawValue
            trouble = device.trouble
            formats = device.formats.map { format in
                Format(
                    format: format.fourCC, summary: format.summary, compressed: format.isCompressed,
                    emulated: format.isEmulated,
                    sizes: format.sizes.map { sizes in
                        let (rates, isRange) =
                            switch sizes.rates {
                            case .discrete(let rates): (rates, false)
                            case .range(let lowest, let highest): ([lowest, highest], true)
                            }
                        return Sizes(
                            least: sizes.least.description, greatest: sizes.greatest.description,
                            step: sizes.step?.description, rates: rates.map(\.description), continuousRates: isRange
                        )
                    })
            }
            controls = ((try? V4L2Controls(.node(device.node)))?.list() ?? []).map(ControlsCommand.Listing.init)
        }
    }
}

extension V4L2DeviceInfo {
    /// The largest size with its highest rate, in words.
    fileprivate var bestSize: String? {
        let all = formats.flatMap { format in format.sizes.map { (format.fourCC, $0) } }
        guard let (format, sizes) = all.max(by: { $0.1.greatest < $1.1.greatest }) else { return nil }
        let rate = sizes.rates.highest.map { " at \($0.doubleValue.shortText) fps" } ?? ""
        return "\(sizes.greatest)\(sizes.step == nil ? rate : "") (\(format))"
    }
}

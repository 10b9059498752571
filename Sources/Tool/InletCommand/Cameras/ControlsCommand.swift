import ArgumentParser
import FoundationEssentials
import Inlet

struct ControlsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controls",
        abstract: "Lists, reads, sets and watches the controls of a camera.",
        discussion: """
            Examples:

              inlet controls v4l2:
              inlet controls v4l2:/dev/video2 brightness=140 exposure_dynamic_framerate=0
              inlet controls v4l2: auto_exposure='Manual Mode'
              inlet controls v4l2: --watch
            """)

    @Argument(help: "A camera's URI, such as v4l2: or v4l2:/dev/video2.")
    var source: String

    @Argument(help: "NAME=VALUE to set a control, NAME to print it, in this order. By default all are listed.")
    var settings: [String] = []

    @Flag(help: "Print one JSON array instead of text; with --watch, one object a line.")
    var json = false

    @Flag(help: "Report every change of a control until interrupted.")
    var watch = false

    func run() async throws {
        let found = try PluginRegistry.command.source(source)
        guard let camera = found as? V4L2Configuration else {
            throw InletError(
                .invalidConfiguration, "'\(found.redactedURI)' has no controls. Give a camera of v4l2:.")
        }
        let controls = try V4L2Controls(camera.address)
        for setting in settings {
            let pair = setting.split(atByte: "=", limit: 1)
            let name = String(pair[0])
            let control = pair.count == 2 ? try controls.set(name, to: String(pair[1])) : try controls.control(name)
            print(json ? try Self.json(Listing(control)) : Self.text(control))
        }
        if watch {
            let changes = controls.changes()
            let reading = Task {
                for await control in changes {
                    let line = json ? (try? Self.json(Listing(control))) ?? "{}" : Self.text(control)
                    Terminal.writeOutput(line + "\n")
                }
            }
            let interrupt = Interrupt { reading.cancel() }
            await reading.value
            withExtendedLifetime(interrupt) {}
        } else if settings.isEmpty {
            let all = controls.list()
            if json {
                print(try Self.json(all.map(Listing.init)))
            } else {
                for control in all { print(Self.text(control)) }
            }
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static func text(_ control: V4L2Control) -> String {
        var facts: [String] = []
        switch control.kind {
        case .integer, .integer64: facts.append("\(control.minimum) to \(control.maximum)")
        case .menu, .integerMenu:
            facts.append(control.choices.sorted { $0.key < $1.key }.map(\.value).joined(separator: " | "))
        case .boolean: facts.append("true | false")
        case .text: facts.append("text of \(control.minimum) to \(control.maximum) characters")
        case .bitmask: facts.append("bits of 0x\(String(control.maximum, radix: 16))")
        case .button: facts.append("button: any value presses it")
        case .compound: facts.append("cannot be shown")
        }
        if let unit = control.unit { facts.append("in \(unit)") }
        facts += Self.names(control.flags)
        if let note = control.note { facts.append(note) }
        return "\(control.name) = \(control.valueText ?? "?")  (\(facts.joined(separator: "; ")))"
    }

    fileprivate static func names(_ flags: V4L2Control.Flags) -> [String] {
        let all: [(V4L2Control.Flags, String)] = [
            (.readOnly, "read-only"), (.writeOnly, "write-only"), (.inactive, "inactive"), (.grabbed, "locked"),
            (.disabled, "disabled"), (.volatile, "changes by itself"),
        ]
        return all.filter { flags.contains($0.0) }.map(\.1)
    }

    /// A control in the JSON output.
    struct Listing: Encodable {
        var name: String
        var label: String
        var kind: String
        var value: String?
        var minimum: Int64
        var maximum: Int64
        var step: Int64
        var `default`: Int64
        var choices: [String: String]?
        var unit: String?
        var note: String?
        var flags: [String]

        init(_ control: V4L2Control) {
            name = control.name
            label = control.label
            kind = control.kind.rawValue
            value = control.valueText
            minimum = control.minimum
            maximum = control.maximum
            step = control.step
            `default` = control.defaultValue
            choices =
                control.choices.isEmpty
                ? nil : Dictionary(uniqueKeysWithValues: control.choices.map { ("\($0)", $1) })
            unit = control.unit
            note = control.note
            flags = ControlsCommand.names(control.flags)
        }
    }
}

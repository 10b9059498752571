import Foundation
import InletCore
import InletV4L2
import ReferenceTools
import Testing

extension DriverTests {
    @Suite struct Discovery {
        @Test(
            "Only the cameras among the drivers' nodes are listed, with their formats as in v4l2-ctl"
        )
        func list() throws {
            let devices = V4L2Devices.list()
            #expect(devices.map(\.identity.bus) == ["platform:vivid-000", "platform:vivid-001"])
            #expect(devices.allSatisfy { $0.driver == "vivid" && $0.trouble == nil })
            for device in devices {
                let text = String(
                    decoding: try ReferenceCommand.run("v4l2-ctl", ["-d", device.node, "--list-formats-ext"]),
                    as: UTF8.self)
                let formats = text.matches(of: /\[\d+\]: '(.{4}(?:-BE)?)'/).map { String($0.output.1) }
                #expect(device.formats.map(\.fourCC) == formats.compactMap { FourCC($0) })
                #expect(device.formats.count > 80)
                let sizes = text.matches(of: /Size: Discrete (\d+x\d+)/).map { String($0.output.1) }
                #expect(device.formats.flatMap { $0.sizes.map { "\($0.greatest)" } } == sizes)
                let rates = text.matches(of: /\((\d+\.\d\d)\d fps\)/).map { String($0.output.1) }
                let ours = device.formats.flatMap(\.sizes).flatMap { sizes -> [Rational] in
                    if case .discrete(let rates) = sizes.rates { rates } else { [] }
                }
                #expect(ours.count == rates.count)
            }
            let outputs = V4L2Devices.list(.output, formats: false).map(\.identity.bus)
            #expect(outputs.starts(with: ["platform:vivid-000", "platform:vivid-001"]))
        }

        @Test("The program lists the cameras and their controls as JSON, and prints settings in readable form")
        func program() throws {
            func inlet(_ arguments: String...) throws -> Data {
                try ReferenceCommand.run(VirtualMachine.inlet, arguments)
            }
            struct Device: Decodable {
                var node: String
                var formats: [Format]
                struct Format: Decodable { var format: String }
            }
            struct Control: Decodable {
                var name: String
                var flags: [String]
            }
            let devices = try JSONDecoder().decode([Device].self, from: inlet("devices", "--json"))
            #expect(devices.map(\.node) == [try Vivid.first.node, try Vivid.second.node])
            #expect(devices.allSatisfy { $0.formats.contains { $0.format == "YUYV" } })
            let text = String(decoding: try inlet("devices"), as: UTF8.self)
            #expect(text.contains("platform:vivid-000") && text.contains("formats YUYV UYVY"))
            let uri = "v4l2:\(try Vivid.first.node)"
            let controls = try JSONDecoder().decode([Control].self, from: inlet("controls", uri, "--json"))
            #expect(controls.first { $0.name == "gain" }?.flags.contains("inactive") == true)
            let set = String(decoding: try inlet("controls", uri, "brightness=140"), as: UTF8.self)
            #expect(set == "brightness = 140  (0 to 255)\n")
            #expect(try Vivid.first.control("-C", "brightness").contains("140"))
            try Vivid.first.control("-c", "brightness=128")
            let report = String(
                decoding: try inlet("run", uri + "?size=320x180&fps=30", "--frames", "5", "--to", "null:"),
                as: UTF8.self)
            #expect(!report.contains("error"))
        }

        @Test("Two cameras with one name are an error that names both")
        func ambiguous() throws {
            let error = #expect(throws: InletError.self) { try V4L2Devices.find(.name("vivid")) }
            #expect(error?.message.contains(try Vivid.first.node) == true)
            #expect(error?.message.contains(try Vivid.second.node) == true)
        }

        @Test("A camera without a node, and one whose node has another name, are named correctly, as in containers")
        func nodes() throws {
            let node = try Vivid.second.node
            let number = try String(
                contentsOfFile: "/sys/class/video4linux/\(node.dropFirst(5))/dev", encoding: .utf8
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            let identity = try V4L2Devices.find(.node(node)).identity
            let numbers = number.split(separator: ":").map(String.init)
            defer { _ = try? ReferenceCommand.run("mknod", [node, "c"] + numbers) }
            let other = "/dev/video77"
            try ReferenceCommand.run("mv", [node, other])
            #expect(try V4L2Devices.find(.path(Vivid.second.bus)).node == other)
            #expect(try V4L2Devices.find(.node(other)).identity.index == identity.index)
            try ReferenceCommand.run("rm", [other])
            let error = #expect(throws: InletError.self) { try V4L2Devices.find(.path(Vivid.second.bus)) }
            let message = error?.message ?? ""
            #expect(message.contains("(\(number)), without a node in /dev"), "\(message)")
        }

        @Test("A camera that is unplugged and plugged in again is reported, without polling")
        func changes() async throws {
            var changes = try V4L2Devices.changes().makeAsyncIterator()
            var present: Set<String> = []
            func wait(until wanted: Set<String>) async {
                while present != wanted {
                    switch await changes.next() {
                    case .appeared(let device): present.insert(device.identity.bus)
                    case .disappeared(let device): present.remove(device.identity.bus)
                    case nil: return
                    }
                }
            }
            let both: Set = [Vivid.first.bus, Vivid.second.bus]
            await wait(until: both)
            try Vivid.unbind()
            await wait(until: [])
            try Vivid.bind()
            await wait(until: both)
            #expect(present == both)
        }
    }

    @Suite struct Controls {
        @Test("A control that is set is read back by v4l2-ctl, for each kind of control")
        func set() throws {
            let controls = try V4L2Controls(.path(Vivid.first.bus))
            let cases = [
                ("brightness", "140", "brightness: 140"), ("horizontal_flip", "on", "horizontal_flip: 1"),
                ("menu", "Menu Item 4", "menu: 4"), ("integer_menu", "8", "integer_menu: 5"),
                ("bitmask", "0x10", "bitmask: 16"), ("integer_64_bits", "-5", "integer_64_bits: -5"),
                ("string", "abc", "string: 'abc'"),
            ]
            for (name, value, answer) in cases {
                let control = try controls.set(name, to: value)
                #expect(try Vivid.first.control("-C", name).contains(answer))
                #expect(control.value != nil)
            }
            try controls.set("button", to: "")
            try controls.set("horizontal_flip=0,brightness=128")
            #expect(try Vivid.first.control("-C", "brightness").contains("128"))
        }

        @Test("Every control that v4l2-ctl lists is listed by the same name, with its flags")
        func list() throws {
            let text = try Vivid.first.control("-L")
            let names = text.matches(of: /(?m)^ *([a-z0-9_]+) 0x[0-9a-f]{8} \(/).map { String($0.output.1) }
            let ours = try V4L2Controls(.path(Vivid.first.bus)).list()
            #expect(ours.map(\.name) == names)
            #expect(ours.first { $0.name == "read_only_integer_32_bits" }?.flags.contains(.readOnly) == true)
            #expect(ours.first { $0.name == "gain" }?.flags.contains(.inactive) == true)
        }

        @Test("A change by another program is reported")
        func changes() async throws {
            let controls = try V4L2Controls(.path(Vivid.first.bus))
            var changes = controls.changes().makeAsyncIterator()
            defer { _ = try? Vivid.first.control("-c", "contrast=128") }
            try Vivid.first.control("-c", "contrast=77")
            let control = await changes.next()
            #expect(control?.name == "contrast")
            #expect(control?.value == .number(77))
        }
    }
}

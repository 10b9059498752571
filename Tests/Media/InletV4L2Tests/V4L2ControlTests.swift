import InletCore
import Testing

@testable import InletV4L2

@Suite struct V4L2ControlTests {
    private static func control(
        _ kind: V4L2Control.Kind, _ minimum: Int64 = 0, _ maximum: Int64 = 255, choices: [Int64: String] = [:],
        flags: V4L2Control.Flags = []
    ) -> V4L2Control {
        V4L2Control(
            id: 1, name: "x", label: "X", kind: kind, minimum: minimum, maximum: maximum, step: 1, defaultValue: 0,
            value: nil, choices: choices, flags: flags)
    }

    @Test("Names are spelled as v4l2-ctl spells them")
    func names() {
        #expect(V4L2Control.name(from: "Exposure Time, Absolute") == "exposure_time_absolute")
        #expect(V4L2Control.name(from: "White Balance, Automatic") == "white_balance_automatic")
        #expect(V4L2Control.name(from: "U8 2x3x4x5 Array") == "u8_2x3x4x5_array")
        // Byte by byte, even if combining marks follow a letter.
        #expect(V4L2Control.name(from: "Gain\u{301} \u{661}x") == "gain_x")
    }

    @Test("Only the shutter and the control that trades rate for light have a note, under old names, too")
    func notes() {
        func note(_ name: String) -> String? {
            var control = Self.control(.boolean)
            control.name = name
            return control.note
        }
        #expect(note("privacy")?.contains("black") == true)
        #expect(note("exposure_dynamic_framerate")?.contains("frame rate") == true)
        #expect(note("exposure_auto_priority") == note("exposure_dynamic_framerate"))
        #expect(note("brightness") == nil)
    }

    @Test("Values are parsed as users write them")
    func values() throws {
        #expect(try Self.control(.integer).parse("140") == .number(140))
        #expect(try Self.control(.integer, -10).parse("-10") == .number(-10))
        #expect(try Self.control(.boolean).parse("on") == .number(1))
        #expect(try Self.control(.bitmask, 0, 0xF0).parse("0x30") == .number(0x30))
        let menu = Self.control(.menu, 0, 3, choices: [1: "Manual Mode", 3: "Aperture Priority Mode"])
        #expect(try menu.parse("manual mode") == .number(1))
        #expect(try menu.parse("3") == .number(3))
        let numbers = Self.control(.integerMenu, 0, 3, choices: [2: "3", 3: "5"])
        #expect(try numbers.parse("3") == .number(2))
        #expect(try Self.control(.text, 2, 4).parse("abc") == .text("abc"))
    }

    @Test("An invalid value is refused with the accepted values")
    func refusals() {
        func message(_ control: V4L2Control, _ text: String) -> String? {
            #expect(throws: InletError.self) { try control.parse(text) }?.message
        }
        #expect(message(Self.control(.integer), "256")?.contains("0 to 255") == true)
        #expect(message(Self.control(.integer), "much")?.contains("0 to 255") == true)
        #expect(message(Self.control(.boolean), "2")?.contains("true or false") == true)
        #expect(message(Self.control(.menu, 0, 1, choices: [1: "Manual"]), "0")?.contains("1 (Manual)") == true)
        #expect(message(Self.control(.text, 2, 4), "abcde")?.contains("2 to 4") == true)
        #expect(message(Self.control(.bitmask, 0, 0xF0), "1")?.contains("0xf0") == true)
        #expect(message(Self.control(.integer, flags: .readOnly), "1")?.contains("only be read") == true)
        #expect(message(Self.control(.compound), "1")?.contains("cannot be set") == true)
    }

    @Test("Values are shown in words")
    func words() {
        var menu = Self.control(.menu, choices: [1: "Manual Mode"])
        menu.value = .number(1)
        #expect(menu.valueText == "Manual Mode")
        var flag = Self.control(.boolean)
        flag.value = .number(0)
        #expect(flag.valueText == "false")
        var mask = Self.control(.bitmask)
        mask.value = .number(-0x7FFF_E000)
        #expect(mask.valueText == "0x80002000")
    }
}

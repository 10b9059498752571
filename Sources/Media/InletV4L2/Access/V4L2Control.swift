import InletCore

/// A setting of a camera: brightness, exposure, focus.
public struct V4L2Control: Sendable, Hashable {
    /// The kernel's number for the control: `V4L2_CID_*`.
    public var id: UInt32
    /// The name as `v4l2-ctl` writes it, such as `exposure_time_absolute`.
    public var name: String
    /// The driver's name for the control.
    public var label: String
    /// The kind of its values.
    public var kind: Kind
    /// The least value; for a text, the least length.
    public var minimum: Int64
    /// The greatest value; for a text, the greatest length.
    public var maximum: Int64
    /// The step between values.
    public var step: Int64
    /// The driver's default value.
    public var defaultValue: Int64
    /// The current value; nil if it cannot be read.
    public var value: Value?
    /// The choices of a menu, by number.
    public var choices: [Int64: String]
    /// Further facts about the control.
    public var flags: Flags

    /// The kind of a control's values.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case integer, boolean, menu, button, integer64, text, bitmask
        /// A menu whose choices are numbers.
        case integerMenu
        /// Arrays and other values without a short form; listed, never set.
        case compound
    }

    /// A value of a control.
    public enum Value: Sendable, Hashable {
        case number(Int64)
        case text(String)
    }

    /// Facts about a control: `V4L2_CTRL_FLAG_*`.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The driver's bits.
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The control exists but has no effect.
        public static let disabled = Flags(rawValue: 0x01)
        /// The control cannot be set at present, usually because of the running stream.
        public static let grabbed = Flags(rawValue: 0x02)
        /// The control can only be read.
        public static let readOnly = Flags(rawValue: 0x04)
        /// Setting the control changes others.
        public static let update = Flags(rawValue: 0x08)
        /// The control has no effect while another one, such as an automatic mode, is set.
        public static let inactive = Flags(rawValue: 0x10)
        /// The control can only be set.
        public static let writeOnly = Flags(rawValue: 0x40)
        /// The hardware changes the control.
        public static let volatile = Flags(rawValue: 0x80)
    }

    /// The name of the control that reports whether a shutter covers the lens.
    public static let privacy = "privacy"
    /// The name of the control that lets a camera halve its rate in dim light; 0 keeps the rate.
    ///
    /// It is `exposure_auto_priority` in kernels before 5.11, for which `v4l2-ctl` still writes that name.
    public static let exposurePriority = "exposure_dynamic_framerate"

    /// The number of ``privacy``: V4L2_CID_PRIVACY.
    package static let privacyID: UInt32 = 0x009A_0910

    /// The effect of the control, if it can explain an unexpected picture; nil for other controls.
    public var note: String? {
        switch name {
        case Self.privacy: "true while a shutter or switch covers the camera: its pictures are black"
        case Self.exposurePriority, "exposure_auto_priority": "off keeps the frame rate in dim light"
        default: nil
        }
    }

    /// The unit of one step, if the kernel's documentation states it:
    /// `Documentation/userspace-api/media/v4l/ext-ctrls-camera.rst`.
    public var unit: String? {
        switch name {
        case "exposure_time_absolute", "exposure_absolute": "100 us"
        case "white_balance_temperature": "K"
        case "pan_absolute", "tilt_absolute", "pan_relative", "tilt_relative": "arc seconds"
        case "auto_exposure_bias": "0.001 EV"
        default: nil
        }
    }

    /// The value in a readable form: a menu's choice, `true`, a number.
    public var valueText: String? {
        switch value {
        case nil: nil
        case .text(let text): text
        case .number(let number):
            switch kind {
            case .boolean: number == 0 ? "false" : "true"
            case .menu, .integerMenu: choices[number] ?? "\(number)"
            case .bitmask: "0x" + String(UInt32(truncatingIfNeeded: number), radix: 16)
            default: "\(number)"
            }
        }
    }

    /// Returns the name as `v4l2-ctl` spells it: lower case, and one `_` for everything between letters and digits.
    static func name(from label: String) -> String {
        label.lowercasedASCII.utf8.split { !$0.isASCIILetter && !$0.isASCIIDigit }.map { String(Substring($0)) }
            .joined(separator: "_")
    }
}

import CV4L2
package import InletCore

// Unsafe: passes structs to the calls that read and set controls.
extension V4L2Device {
    /// Returns every control with its value.
    package func controls() -> [V4L2Control] {
        var controls: [V4L2Control] = []
        var id: UInt32 = 0
        // Bounded, because a broken driver might never end.
        for _ in 0..<1024 {
            var entry = v4l2_query_ext_ctrl()
            entry.id = id | UInt32(V4L2_CTRL_FLAG_NEXT_CTRL) | UInt32(V4L2_CTRL_FLAG_NEXT_COMPOUND)
            guard unsafe call(inlet_VIDIOC_QUERY_EXT_CTRL, &entry) == 0, entry.id > id else { break }
            id = entry.id
            if let control = control(entry) { controls.append(control) }
        }
        return controls
    }

    /// Returns a control by its number.
    package func control(id: UInt32) -> V4L2Control? {
        var entry = v4l2_query_ext_ctrl()
        entry.id = id
        guard unsafe call(inlet_VIDIOC_QUERY_EXT_CTRL, &entry) == 0 else { return nil }
        return control(entry)
    }

    private func control(_ entry: v4l2_query_ext_ctrl) -> V4L2Control? {
        var entry = entry
        let label = unsafe Self.text(&entry.name, MemoryLayout.size(ofValue: entry.name))
        guard let kind = V4L2Control.Kind(type: entry.type) else { return nil }
        var control = V4L2Control(
            id: entry.id, name: V4L2Control.name(from: label), label: label,
            kind: entry.nr_of_dims > 0 ? .compound : kind, minimum: entry.minimum, maximum: entry.maximum,
            step: Int64(clamping: entry.step), defaultValue: entry.default_value, value: nil, choices: [:],
            flags: V4L2Control.Flags(rawValue: entry.flags))
        if kind == .bitmask { control.maximum = Int64(UInt32(truncatingIfNeeded: entry.maximum)) }
        if kind == .menu || kind == .integerMenu { control.choices = choices(of: entry, kind: kind) }
        control.value = value(of: control)
        return control
    }

    private func choices(of entry: v4l2_query_ext_ctrl, kind: V4L2Control.Kind) -> [Int64: String] {
        var choices: [Int64: String] = [:]
        let (first, last) = (entry.minimum, max(entry.minimum, entry.maximum))
        guard first >= 0, last <= UInt32.max, last - first < 256 else { return [:] }
        for index in first...last {
            var number: Int64 = 0
            let name = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { bytes -> String? in
                guard unsafe inlet_v4l2_query_menu(descriptor, entry.id, UInt32(index), bytes.baseAddress, &number) == 0
                else { return nil }
                return unsafe String(decoding: UnsafeRawBufferPointer(bytes).prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name { choices[index] = kind == .menu ? name : "\(number)" }
        }
        return choices
    }

    private func value(of control: V4L2Control) -> V4L2Control.Value? {
        guard control.flags.isDisjoint(with: [.writeOnly, .disabled]), control.kind != .compound,
            control.kind != .button
        else { return nil }
        if control.kind == .text {
            let capacity = Int(min(max(control.maximum, 0), 4095)) + 1
            return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { bytes in
                let failure = unsafe inlet_v4l2_exchange_text(
                    descriptor, 0, control.id, bytes.baseAddress, UInt32(capacity))
                guard failure == 0 else { return nil }
                return unsafe .text(
                    String(decoding: UnsafeRawBufferPointer(bytes).prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        var value: Int64 = 0
        let isWide: Int32 = control.kind == .integer64 ? 1 : 0
        guard unsafe inlet_v4l2_get_control(descriptor, control.id, &value, isWide) == 0 else { return nil }
        return .number(value)
    }

    /// Sets a control to a valid value.
    package func set(_ control: V4L2Control, to value: V4L2Control.Value) throws(InletError) {
        switch value {
        case .number(let number):
            let isWide: Int32 = control.kind == .integer64 ? 1 : 0
            try check(inlet_v4l2_set_control(descriptor, control.id, number, isWide), "VIDIOC_S_EXT_CTRLS")
        case .text(let text):
            let bytes = text.utf8.map { CChar(bitPattern: $0) } + [0]
            let failure = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe inlet_v4l2_exchange_text(
                    descriptor, 1, control.id, UnsafeMutablePointer(mutating: bytes.baseAddress), UInt32(bytes.count))
            }
            try check(failure, "VIDIOC_S_EXT_CTRLS")
        }
    }
}

extension V4L2Control.Kind {
    /// Creates the kind of `V4L2_CTRL_TYPE_*`; nil for headings between controls.
    init?(type: UInt32) {
        switch type {
        case 1: self = .integer
        case 2: self = .boolean
        case 3: self = .menu
        case 4: self = .button
        case 5: self = .integer64
        case 6: return nil
        case 7: self = .text
        case 8: self = .bitmask
        case 9: self = .integerMenu
        default: self = .compound
        }
    }
}

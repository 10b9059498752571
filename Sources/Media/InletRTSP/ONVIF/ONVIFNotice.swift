package import InletCore

/// A message of an ONVIF device that reports whether something is detected (Core Specification, section
/// "Notification").
package struct ONVIFNotice: Sendable, Equatable {
    /// The kind of detection.
    package var kind: SourceDetection.Kind
    /// The key that distinguishes this detector from the device's others of the same kind: its topic and its source.
    package var detector: [UInt8]
    /// Whether it is detected now.
    package var isActive: Bool

    /// The most messages that are read of an answer.
    private static let most = 256
    private static let longest = 512

    /// Returns the notices about motion and tampering in an answer to PullMessages. All other messages are left out.
    static func notices(in response: XMLElement) -> [ONVIFNotice] {
        response.children.filter { $0.isNamed("NotificationMessage") }.prefix(most).compactMap(ONVIFNotice.init)
    }

    private init?(_ message: XMLElement) {
        guard let topic = message.child("Topic")?.text, topic.count <= Self.longest,
            let kind = Self.kind(ofTopic: topic), let content = message.first("Message", "Message")
        else { return nil }
        self.kind = kind
        func items(_ part: StaticString) -> [(name: [UInt8], value: [UInt8])] {
            let found = content.child(part)?.children.filter { $0.isNamed("SimpleItem") } ?? []
            return found.prefix(16).compactMap { item in
                item.attribute("Name").flatMap { name in item.attribute("Value").map { (name, $0) } }
            }
        }
        let states: [StaticString] = ["State", "IsMotion", "IsTamper"]
        let state = items("Data").first { item in states.contains { item.name.elementsEqual("\($0)".utf8) } }
        if content.attribute("PropertyOperation").map({ $0.elementsEqual("Deleted".utf8) }) == true {
            isActive = false
        } else if let value = state?.value, let isActive = Self.truth(value) {
            self.isActive = isActive
        } else {
            return nil
        }
        var detector = topic
        for item in items("Source") { detector += [0x20] + item.name + [0x3D] + item.value }
        self.detector = Array(detector.prefix(Self.longest))
    }

    /// Returns the kind of detection that a topic reports, whatever its namespace prefixes; nil for any other topic.
    private static func kind(ofTopic topic: [UInt8]) -> SourceDetection.Kind? {
        let names = topic.split(separator: UInt8(ascii: "/")).map { step in
            step.lastIndex(of: UInt8(ascii: ":")).map { step[($0 + 1)...] } ?? step
        }
        func has(_ name: StaticString) -> Bool { names.contains { $0.elementsEqual("\(name)".utf8) } }
        if has("Tamper") || has("TamperDetector") || has("GlobalSceneChange") { return .tampering }
        return has("MotionAlarm") || has("Motion") ? .motion : nil
    }

    /// A boolean of XML Schema; nil for anything else.
    private static func truth(_ text: [UInt8]) -> Bool? {
        if text.elementsEqual("true".utf8) || text.elementsEqual("1".utf8) { return true }
        return text.elementsEqual("false".utf8) || text.elementsEqual("0".utf8) ? false : nil
    }
}

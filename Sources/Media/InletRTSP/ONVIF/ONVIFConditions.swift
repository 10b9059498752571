package import InletCore

/// The current detections of all detectors of a device.
package struct ONVIFConditions: Sendable {
    /// The detectors that currently detect something, by the kind of detection.
    private var active: [SourceDetection.Kind: Set<[UInt8]>] = [:]

    /// The most detectors of a kind; further ones are not followed.
    private static let most = 64

    package init() {}

    /// Takes a message of a detector.
    ///
    /// - Returns: what begins with the first detector of a kind, or ends with the last; nil if nothing changes.
    package mutating func take(_ notice: ONVIFNotice) -> SourceDetection? {
        var detectors = active[notice.kind] ?? []
        let was = !detectors.isEmpty
        if !notice.isActive {
            detectors.remove(notice.detector)
        } else if detectors.count < Self.most {
            detectors.insert(notice.detector)
        }
        active[notice.kind] = detectors
        return was == !detectors.isEmpty ? nil : SourceDetection(notice.kind, isActive: !was)
    }

    /// Forgets all detectors, because the subscription to the device has ended.
    ///
    /// - Returns: what ends.
    package mutating func end() -> [SourceDetection] {
        defer { active = [:] }
        return SourceDetection.Kind.allCases.filter { active[$0]?.isEmpty == false }
            .map { SourceDetection($0, isActive: false) }
    }
}

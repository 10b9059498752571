import InletCore

/// The changes that bring the cameras from one configuration to another: only the differences. Pure.
package struct ReloadPlan: Sendable, Hashable {
    /// The change of a camera.
    package enum Step: Sendable, Hashable {
        /// The camera does not exist yet.
        case add(CameraSettings)
        /// The camera is no longer in the configuration.
        case remove
        /// The source or the policies differ, so the camera is closed and opened again.
        case reopen(CameraSettings)
        /// Only the sinks or the pictures for viewers differ: the source and all other sinks continue.
        case adjust(CameraSettings, detach: [SinkSettings], attach: [SinkSettings])
    }

    /// The changes by camera name. Unchanged cameras are not included.
    package let steps: [String: Step]

    /// - Parameters:
    ///   - old: the present cameras, by name.
    ///   - new: the cameras of the new configuration, by name.
    package init(from old: [String: CameraSettings], to new: [String: CameraSettings]) {
        var steps: [String: Step] = [:]
        for name in old.keys where new[name] == nil { steps[name] = .remove }
        for (name, camera) in new {
            guard let former = old[name] else {
                steps[name] = .add(camera)
                continue
            }
            steps[name] = Self.step(from: former, to: camera)
        }
        self.steps = steps
    }

    private static func step(from old: CameraSettings, to new: CameraSettings) -> Step? {
        guard old != new else { return nil }
        var (before, after) = (old.policies, new.policies)
        // A change of the pictures for viewers or of the recordings does not affect the source.
        (before.view, after.view) = (ViewSettings(), ViewSettings())
        (before.record, after.record) = (RecordSettings(), RecordSettings())
        (before.priority, after.priority) = (.normal, .normal)
        (before.degrade, after.degrade) = ([], [])
        guard old.source == new.source, before == after else { return .reopen(new) }
        return .adjust(
            new, detach: old.sinks.filter { !new.sinks.contains($0) },
            attach: new.sinks.filter { !old.sinks.contains($0) })
    }

    /// Whether there are no changes.
    package var isEmpty: Bool { steps.isEmpty }

    /// The camera names and the kinds of change, for people and programs: `added`, `removed`, `reopened` or `adjusted`.
    package var summary: [(name: String, change: String)] {
        steps.sorted { $0.key < $1.key }.map { name, step in
            let change =
                switch step {
                case .add: "added"
                case .remove: "removed"
                case .reopen: "reopened"
                case .adjust: "adjusted"
                }
            return (name, change)
        }
    }
}

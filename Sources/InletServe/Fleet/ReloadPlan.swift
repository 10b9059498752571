import InletCore

/// What has to be done for cameras to become as another configuration says: the difference, and nothing else. Pure.
package struct ReloadPlan: Sendable, Hashable {
    /// What is done about a camera.
    package enum Step: Sendable, Hashable {
        /// It is not there yet.
        case add(CameraSettings)
        /// It is there no longer.
        case remove
        /// Its source or its policies differ, so that it is closed and opened again.
        case reopen(CameraSettings)
        /// Only its sinks or its pictures for viewers differ: the source goes on, and so do all other sinks.
        case adjust(CameraSettings, detach: [SinkSettings], attach: [SinkSettings])
    }

    /// What is done, by the names of cameras. A camera that is as it should be is not among them.
    package let steps: [String: Step]

    /// - Parameters:
    ///   - old: the cameras that there are, by name.
    ///   - new: the cameras that there shall be.
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
        // The pictures for viewers and recordings are no matter of the source.
        (before.view, after.view) = (ViewSettings(), ViewSettings())
        (before.record, after.record) = (RecordSettings(), RecordSettings())
        (before.priority, after.priority) = (.normal, .normal)
        (before.degrade, after.degrade) = ([], [])
        guard old.source == new.source, before == after else { return .reopen(new) }
        return .adjust(
            new, detach: old.sinks.filter { !new.sinks.contains($0) },
            attach: new.sinks.filter { !old.sinks.contains($0) })
    }

    /// Whether nothing is to be done.
    package var isEmpty: Bool { steps.isEmpty }

    /// The names with what is done about each, for people and programs: `added`, `removed`, `reopened` or `adjusted`.
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

import InletCore

/// Recordings on request.
extension SupervisedCamera {
    /// Begins a recording, or makes the one that is under way longer.
    ///
    /// - Parameters:
    ///   - time: how long it goes on from now; nil for what the settings say.
    ///   - cause: what asks for it.
    /// - Throws: an error that says why nothing can be recorded.
    func record(for time: Duration?, cause: String) throws(InletError) -> RecordingTicket {
        _ = try recordings
        try needPackets()
        return try recorder.record(settings.policies.record, for: time, cause: cause)
    }

    /// The recordings of the camera.
    ///
    /// - Throws: an error if the settings name no folder for recordings.
    var recordings: RecordingStore {
        get throws(InletError) { try recorder.store(settings.policies.record) }
    }

    /// Deletes the oldest recordings while all of them take more than `keep-size`. Does not wait for the disk.
    func retainRecordings() {
        guard !isRetaining, let store = try? recordings else { return }
        isRetaining = true
        let size = settings.policies.record.keptSize
        Task {
            _ = try? await store.lane.run { _ in
                store.refresh()
                store.retain(size)
            }
            isRetaining = false
        }
    }

    /// Begins a recording if the settings want one for an event of a kind.
    func noteEvent(_ kind: String) {
        // What recordings report begins none.
        guard settings.policies.record.events.contains(kind), !kind.hasBytePrefix("recording-") else { return }
        do throws(InletError) {
            _ = try record(for: nil, cause: kind)
        } catch {
            report(FleetEvent("recording-failed", error.description, camera: settings.name))
        }
    }
}

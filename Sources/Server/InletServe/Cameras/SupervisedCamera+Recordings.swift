import InletCore

/// Recordings on request.
extension SupervisedCamera {
    /// Starts a recording, or extends the current one.
    ///
    /// - Parameters:
    ///   - time: the time from now to the end; nil for the time in the settings.
    ///   - cause: the cause of the recording.
    /// - Throws: an error with the reason why nothing can be recorded.
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

    /// Deletes the oldest recordings while all of them together exceed `keep-size`. Does not wait for the disk.
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

    /// Starts a recording if the settings request one for this kind of event.
    func noteEvent(_ kind: String) {
        // Events of recordings do not start recordings.
        guard settings.policies.record.events.contains(kind), !kind.hasBytePrefix("recording-") else { return }
        do throws(InletError) {
            _ = try record(for: nil, cause: kind)
        } catch {
            report(CameraSetEvent("recording-failed", error.description, camera: settings.name))
        }
    }
}

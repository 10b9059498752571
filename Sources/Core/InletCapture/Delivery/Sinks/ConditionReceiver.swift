import InletCore

/// A receiver that is notified whether frames are expected.
protocol ConditionReceiver: SinkReceiver {
    /// Records whether frames are expected. Called on any thread.
    func sourceChanged(to condition: SourceCondition)
}

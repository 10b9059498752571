import InletCore

/// A receiver that is told whether frames are to be expected.
protocol ConditionReceiver: SinkReceiver {
    /// Called on some thread.
    func sourceChanged(to condition: SourceCondition)
}

/// An instance of a source or a sink, driven by Inlet's messages. Main thread.
protocol PluginInstance: AnyObject {
    /// Answers the message that made the instance.
    func answerCreate()
    /// Handles the newest message, and answers it where it needs that.
    ///
    /// - Returns: false if it is not a message for this kind of instance.
    /// - Throws: ``PluginFailure``, which becomes the answer.
    func handle(_ type: Int) throws(PluginFailure) -> Bool
    /// Closes and destroys the instance. Called once.
    ///
    /// - Parameter deadline: when Inlet ends the process, in nanoseconds of CLOCK_MONOTONIC.
    func close(by deadline: Int64)
}

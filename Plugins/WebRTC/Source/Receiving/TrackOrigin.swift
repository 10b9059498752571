import InletCore

/// The origin of a source's track: one session over signaling, or an endpoint to which publishers connect.
///
/// Called on the source's thread.
protocol TrackOrigin: AnyObject {
    /// The reason why there is no track, for people; nil if the end of a session is an error because no other peer
    /// will come.
    var vacancy: String? { get }
    /// Starts. Received data goes to the inbox.
    ///
    /// - Throws: ``InletError`` if that is impossible, for example because a port is in use.
    func open(_ inbox: PacketInbox, _ context: SourceContext) throws(InletError)
    /// Requests a key frame from the sending peer. Returns at once.
    func requestKeyFrame()
    /// Ends all sessions. Takes at most a second.
    func close()
}

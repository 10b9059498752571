#if WebRTC
    import InletCore

    /// Where a source's track comes from: one session over signaling, or an endpoint to which publishers connect.
    ///
    /// Called on the source's thread.
    protocol TrackOrigin: AnyObject {
        /// Why there is no track, for people; nil if a session that ends is an error, as nobody else will come.
        var vacancy: String? { get }
        /// Begins. What arrives goes to the inbox.
        ///
        /// - Throws: ``InletError`` if that is impossible, as where a port is taken.
        func open(_ inbox: PacketInbox, _ context: SourceContext) throws(InletError)
        /// Requests a key frame of the peer that sends. Returns at once.
        func requestKeyFrame()
        /// Ends all sessions. Takes at most a second.
        func close()
    }
#endif

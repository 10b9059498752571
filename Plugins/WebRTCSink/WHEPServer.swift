#if WebRTC
    import InletCore
    import InletHTTP
    import InletRTC
    import Logging

    /// The web server to which viewers come, and their sessions.
    final class WHEPServer: Sendable {
        /// Where it listens, such as `127.0.0.1:8091`.
        let address: String
        private let listener: HTTPListener
        private let sessions: ViewerSessions
        private let broadcast: WebRTCBroadcast

        /// Starts to listen. Blocks for the moment that this takes, so not to be called from a thread that others
        /// share.
        ///
        /// - Throws: ``InletError`` where the address cannot be had.
        init(
            _ configuration: WebRTCSinkConfiguration, hub: ViewerHub, pipelines: [ViewerPipeline], logger: Logger
        ) throws(InletError) {
            let listener = HTTPListener()
            let sessions = ViewerSessions(configuration, hub: hub, pipelines: pipelines, logger: logger)
            // Some connections more than viewers, whose requests are short.
            let place = HTTPListener.Place(
                configuration.access, connections: configuration.viewers + 64,
                bodyBytes: configuration.endpoint.bytes + 1, patience: .seconds(10))
            let loop = listener.loop
            address = try listener.listen(at: place, logger: logger) { connection in
                WHEPService(sessions, connection: connection, loop: loop)
            }
            self.listener = listener
            self.sessions = sessions
            broadcast = configuration.broadcast
            broadcast.begin(sessions, patience: configuration.patience)
            sessions.warmUp()
        }

        /// Ends all sessions, closes all connections and ends the thread.
        func stop() {
            broadcast.end()
            sessions.close()
            listener.stop()
        }
    }
#endif

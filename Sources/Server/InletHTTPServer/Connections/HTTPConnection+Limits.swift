import NIOCore

extension HTTPConnection {
    /// The time limits of a client.
    struct Limits: Sendable {
        /// The time to the end of a request's head, from the start of the connection or the first byte of a later
        /// request. The request's body gets the same time again.
        var request = TimeAmount.seconds(15)
        /// The time from a response to the first byte of the next request.
        ///
        /// A request that is sent while the server closes the connection fails. This time is therefore longer than the
        /// time after which clients close idle connections: 15 s in aiohttp, 60 s in AWS's load balancers. Idle
        /// connections lock nobody out (``ConnectionLedger``).
        var idle = TimeAmount.seconds(75)
        /// The time in which the client must read a response or a part of a stream.
        var answer: TimeAmount
        /// The time in which the client may still send data after the last response.
        var farewell = TimeAmount.seconds(1)
    }
}

import InletCore

/// The request that keeps a server's session alive. It may be carried over to the next session with the same server.
///
/// RTSP names no request for it: most servers accept any, some only GET_PARAMETER, and some close the connection on a
/// method that they do not know. So the client asks with OPTIONS, prefers GET_PARAMETER if it is offered, and changes
/// to another method if one is refused or the session ends nevertheless.
package struct KeepAliveMemory: Sendable, Equatable {
    /// The method in use; nil as long as the server has not been asked.
    package private(set) var method: RTSPMethod?
    private var refused: Set<RTSPMethod> = []

    private static let order: [RTSPMethod] = [.getParameter, .options, .setParameter]

    package init() {}

    /// The method of the next request.
    var next: RTSPMethod { method ?? .options }

    /// Takes the server's answer to OPTIONS.
    mutating func learn(_ methods: Set<RTSPMethod>) {
        guard method == nil else { return }
        method = methods.contains(.getParameter) && !refused.contains(.getParameter) ? .getParameter : .options
    }

    /// Records that the server refused a method.
    ///
    /// - Returns: whether there is another to try.
    mutating func refuse(_ refusedMethod: RTSPMethod) -> Bool {
        refused.insert(refusedMethod)
        // OPTIONS is the last resort: even an error answer shows the server that the client is alive.
        let other = Self.order.first { !refused.contains($0) }
        method = other ?? .options
        return other != nil
    }

    /// Records that a session ended after a certain time. If that was about its time-out, the requests had no effect,
    /// and the next session uses another method.
    mutating func noteEnd(after time: Duration, timeout: Duration) {
        guard time >= timeout * 0.8, time <= timeout * 1.5 + .seconds(5) else { return }
        rotate(from: next)
    }

    /// Records that a server closed the connection on a request, as some do on a method that they do not know.
    mutating func noteHangUp(on method: RTSPMethod) { rotate(from: method) }

    private mutating func rotate(from tried: RTSPMethod) {
        guard !refuse(tried) else { return }
        refused.removeAll()
        method = nil
    }
}

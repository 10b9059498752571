import InletRTSP
import Synchronization

/// What the sources of one capturer have learnt about their server, so that the next session begins with what works.
///
/// Safe from any thread.
final class ServerMemory: Sendable {
    private struct Knowledge {
        var keepAlive = KeepAliveMemory()
        var authentication = RTSPAuthentication.Memory()
        var beginsWithOptions = false
        var transport: RTSPSessionConfiguration.Transport?
        var hasLeftUDP = false
        var onvif: ONVIFMemory?
    }

    private let known = Mutex(Knowledge())

    /// Which request keeps a session alive.
    var keepAlive: KeepAliveMemory {
        get { known.withLock { $0.keepAlive } }
        set { known.withLock { $0.keepAlive = newValue } }
    }

    /// The Digest algorithms that the server refuses.
    var authentication: RTSPAuthentication.Memory {
        get { known.withLock { $0.authentication } }
        set { known.withLock { $0.authentication = newValue } }
    }

    /// Whether the server closes connections that do not begin with OPTIONS.
    var beginsWithOptions: Bool {
        get { known.withLock { $0.beginsWithOptions } }
        set { known.withLock { $0.beginsWithOptions = newValue } }
    }

    /// The transport by which packets last arrived; nil before the first.
    var transport: RTSPSessionConfiguration.Transport? {
        get { known.withLock { $0.transport } }
        set { known.withLock { $0.transport = newValue } }
    }

    /// Whether a session was to continue over TCP because of losses. Sources try that once; ``transport`` tells whether
    /// TCP worked.
    var hasLeftUDP: Bool {
        get { known.withLock { $0.hasLeftUDP } }
        set { known.withLock { $0.hasLeftUDP = newValue } }
    }

    /// What has been learnt about the ONVIF device; nil if nothing.
    var onvif: ONVIFMemory? {
        get { known.withLock { $0.onvif } }
        set { known.withLock { $0.onvif = newValue } }
    }
}

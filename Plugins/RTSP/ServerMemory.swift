import InletRTSP
import Synchronization

/// The knowledge of one capturer's sources about their server, so that the next session begins with working settings.
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

    /// The request that keeps a session alive.
    var keepAlive: KeepAliveMemory {
        get { known.withLock { $0.keepAlive } }
        set { known.withLock { $0.keepAlive = newValue } }
    }

    /// The Digest algorithms that the server rejects.
    var authentication: RTSPAuthentication.Memory {
        get { known.withLock { $0.authentication } }
        set { known.withLock { $0.authentication = newValue } }
    }

    /// Whether the server closes connections that do not begin with OPTIONS.
    var beginsWithOptions: Bool {
        get { known.withLock { $0.beginsWithOptions } }
        set { known.withLock { $0.beginsWithOptions = newValue } }
    }

    /// The transport over which packets last arrived; nil before the first.
    var transport: RTSPSessionConfiguration.Transport? {
        get { known.withLock { $0.transport } }
        set { known.withLock { $0.transport = newValue } }
    }

    /// Whether a session had to continue over TCP because of losses. Sources try that once; ``transport`` shows
    /// whether TCP worked.
    var hasLeftUDP: Bool {
        get { known.withLock { $0.hasLeftUDP } }
        set { known.withLock { $0.hasLeftUDP = newValue } }
    }

    /// The knowledge about the ONVIF device; nil until a device is known.
    var onvif: ONVIFMemory? {
        get { known.withLock { $0.onvif } }
        set { known.withLock { $0.onvif = newValue } }
    }
}

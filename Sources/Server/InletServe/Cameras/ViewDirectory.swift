package import InletHTTPServer
import Synchronization

/// Finds the hub that passes a camera's pictures to viewers, without waiting for ``CameraSet``. Safe from any thread.
package final class ViewDirectory: Sendable {
    private let hubs = Mutex<[String: PictureHub]>([:])

    /// Returns the hub of a camera; nil if the camera does not exist or cannot be viewed.
    package subscript(name: String) -> PictureHub? { hubs.withLock { $0[name] } }

    func set(_ hub: PictureHub?, of name: String) { hubs.withLock { $0[name] = hub } }
}

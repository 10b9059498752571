import InletCore
import Synchronization

/// The addresses of a place that are still to be tried, in their order.
final class PlaceQueue: Sendable {
    private let find: @Sendable () throws(InletError) -> [String]
    /// Nil until they are asked for.
    private let rest = Mutex<[String]?>(nil)

    /// - Parameter find: asked once, by the first who wants one; may wait for the name service.
    init(_ find: @escaping @Sendable () throws(InletError) -> [String]) { self.find = find }

    /// Whether nothing is left; true until it is known what there is.
    var isEmpty: Bool { rest.withLock { $0?.isEmpty ?? true } }

    /// Takes the next out.
    ///
    /// - Returns: it, and how many there were with it.
    func next() throws(InletError) -> (url: String, count: Int) {
        let places: [String]
        if let known = rest.withLock({ $0 }) { places = known } else { places = try find() }
        guard let first = places.first else {
            throw InletError(.hostNotFound, "The host has no address that is left to be tried.")
        }
        rest.withLock { $0 = Array(places.dropFirst()) }
        return (first, places.count)
    }
}

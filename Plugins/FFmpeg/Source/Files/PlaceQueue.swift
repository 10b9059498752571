import InletCore
import Synchronization

/// The addresses of a place that have not been tried yet, in order.
final class PlaceQueue: Sendable {
    private let find: @Sendable () throws(InletError) -> [String]
    /// The remaining addresses; nil until they are requested.
    private let rest = Mutex<[String]?>(nil)

    /// - Parameter find: called once, by the first caller that needs an address. May wait for the name service.
    init(_ find: @escaping @Sendable () throws(InletError) -> [String]) { self.find = find }

    /// Whether no address is left. True until the addresses are known.
    var isEmpty: Bool { rest.withLock { $0?.isEmpty ?? true } }

    /// Removes the next address.
    ///
    /// - Returns: the address, and the number of addresses that were left, including this one.
    func next() throws(InletError) -> (url: String, count: Int) {
        let places: [String]
        if let known = rest.withLock({ $0 }) { places = known } else { places = try find() }
        guard let first = places.first else {
            throw InletError(.hostNotFound, "The host has no further address to try.")
        }
        rest.withLock { $0 = Array(places.dropFirst()) }
        return (first, places.count)
    }
}

import InletCore

/// The places of an endpoint: the present clients, and those whose admission is being decided. Opens and closes
/// nothing.
package struct GuestList: Sendable {
    private struct Guest: Sendable {
        /// The name that the client gives itself.
        var name: String?
        /// The name of the session, once it exists.
        var session: String?
    }

    private let kind: AdmissionRequest.Kind
    private var guests: [Int: Guest] = [:]
    private var count = 0

    /// - Parameter kind: the purpose of the clients' requests.
    package init(_ kind: AdmissionRequest.Kind) { self.kind = kind }

    /// Gives a client a place until ``leave(_:)``.
    ///
    /// - Returns: the number of the place, and the request for the admission.
    package mutating func enter(
        _ name: String?, from address: String
    ) -> (number: Int, request: AdmissionRequest) {
        let isNamesake = name.map { name in guests.values.contains { $0.name?.isSameBytes(as: name) == true } } ?? false
        let request = AdmissionRequest(
            kind: kind, name: name, address: address, present: guests.count, isNamesake: isNamesake)
        count += 1
        guests[count] = Guest(name: name)
        return (count, request)
    }

    /// Records the session of a place.
    package mutating func begin(_ session: String, at number: Int) { guests[number]?.session = session }

    /// Frees a place.
    ///
    /// - Returns: whether it was taken.
    package mutating func leave(_ number: Int) -> Bool { guests.removeValue(forKey: number) != nil }

    /// Returns the sessions of all others with the name of a place.
    package func sessions(ofNamesakes number: Int) -> [String] {
        guard let name = guests[number]?.name else { return [] }
        return guests.filter { $0.key != number && $0.value.name?.isSameBytes(as: name) == true }
            .compactMap(\.value.session)
    }
}

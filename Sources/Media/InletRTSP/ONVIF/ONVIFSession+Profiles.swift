package import InletCore

/// Finds profiles and the addresses of their streams.
extension ONVIFSession {
    /// The profile that was asked for, with the address of its stream.
    ///
    /// - Throws: ``InletError/Code/notFound`` if there is no such profile, or the device has no address for it.
    package func chosenProfile() throws(InletError) -> (profile: ONVIFProfile, address: RTSPURL) {
        guard case .profile(let wanted) = settings.goal, let profile = try profile(named: wanted) else {
            throw InletError(.notFound, "The ONVIF device has no media profile.")
        }
        guard let address = profile.address else {
            throw InletError(
                .notFound,
                "The ONVIF device has no RTSP address for the profile '\(profile.title)'. \(profilesThereAre)")
        }
        return (profile, address)
    }

    /// Takes the profiles, and notes of which the addresses are needed.
    mutating func takeProfiles(_ element: XMLElement) throws(InletError) {
        var most = Self.mostProfiles
        // One of all profiles, of which only that one costs an exchange.
        if case .profile = settings.goal { most = Self.mostNamedProfiles }
        let profiles = element.children.filter { $0.isNamed("Profiles") }.prefix(most).compactMap(ONVIFProfile.init)
        found = profiles
        guard case .profile(let wanted) = settings.goal else {
            candidates = profiles.map(\.token)[...]
            return
        }
        guard !profiles.isEmpty else { throw InletError(.notFound, "The ONVIF device has no media profile.") }
        guard let profile = try profile(named: wanted) else {
            let text = String(decoding: wanted ?? [], as: UTF8.self).sanitized(limit: 64)
            throw InletError(.notFound, "The ONVIF device has no profile '\(text)'. \(profilesThereAre)")
        }
        candidates = [profile.token]
    }

    /// Takes the address of a profile's stream; nil if the device states none.
    mutating func takeAddress(_ address: RTSPURL?, of token: [UInt8]) {
        candidates = candidates?.dropFirst()
        if let place = found?.firstIndex(where: { $0.token == token }) { found?[place].address = address }
    }

    /// Returns the profile with a token or a name, or the first one if nil is wanted.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a name that several profiles have, as those of the
    ///   channels of a recorder often do.
    private func profile(named wanted: [UInt8]?) throws(InletError) -> ONVIFProfile? {
        guard let found, let wanted else { return found?.first }
        if let profile = found.first(where: { $0.token == wanted }) { return profile }
        let named = found.filter { $0.name == wanted }
        guard named.count > 1, let first = named.first else { return named.first }
        let tokens = named.prefix(Self.mostProfiles).map(\.tokenText).joined(separator: ", ")
        throw InletError(
            .invalidConfiguration,
            "The ONVIF device has \(named.count) profiles with the name '\(first.title)'. "
                + "Give the token of one of them as the profile: \(tokens).")
    }

    /// A sentence with the names of the first profiles.
    private var profilesThereAre: String {
        let titles = (found ?? []).prefix(8).map { profile in
            profile.size.map { "\(profile.title) (\($0.width)x\($0.height))" } ?? profile.title
        }
        return titles.isEmpty ? "It has none." : "It has: \(titles.joined(separator: ", "))."
    }
}

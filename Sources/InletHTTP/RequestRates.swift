/// The most requests a second, of which five seconds' worth may come at once.
package struct RequestRates: Sendable {
    /// Of one client address; 0 for no limit, which is the default.
    package var perClient: Int
    /// With one token; 0 for no limit, which is the default.
    package var perToken: Int

    package init(perClient: Int = 0, perToken: Int = 0) { (self.perClient, self.perToken) = (perClient, perToken) }
}

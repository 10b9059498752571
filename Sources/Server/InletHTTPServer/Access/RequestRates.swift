/// The most requests per second. Five seconds' worth may come at once.
package struct RequestRates: Sendable {
    /// The rate of one client address; 0, the default, is no limit.
    package var perClient: Int
    /// The rate with one token; 0, the default, is no limit.
    package var perToken: Int

    package init(perClient: Int = 0, perToken: Int = 0) { (self.perClient, self.perToken) = (perClient, perToken) }
}

/// The order in which a driver that counts its pictures fills a ring of buffers.
enum RingOrder {
    /// Returns whether a buffer is the one that the driver fills next, because all others hold later pictures.
    ///
    /// - Parameters:
    ///   - number: the driver's 32-bit number of the picture, which may wrap.
    ///   - others: the numbers of all other buffers of the ring. If it is empty, the order is unknown.
    static func isOldest(_ number: UInt32, among others: [UInt32]) -> Bool {
        !others.isEmpty && others.allSatisfy { Int32(bitPattern: $0 &- number) > 0 }
    }
}

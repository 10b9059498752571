/// Estimates the size of the next access units from the sizes of those before.
///
/// Key frames are many times as large as other pictures, and which of the two comes is unknown when a unit begins. So a
/// unit begins with memory for most units, and grows immediately to the size of the largest.
struct UnitSizes {
    /// The size that about four of five units do not exceed, with a margin.
    var usual: Int { estimate &+ estimate / 4 }
    /// The size of the largest recent units, with a margin.
    var large: Int { largest &+ largest / 4 }

    private var estimate = AccessUnitPool.smallest
    private var largest = AccessUnitPool.smallest

    /// Records a unit that was finished.
    mutating func note(_ size: Int) {
        largest = max(size, largest &- largest / 64)
        // Steps up that are four times the steps down lead to the value that four of five units do not exceed.
        estimate = size > estimate ? min(size, estimate &+ estimate / 8) : estimate &- estimate / 32
        estimate = max(estimate, AccessUnitPool.smallest)
    }
}

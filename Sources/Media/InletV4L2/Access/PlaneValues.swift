/// One number for each plane, as Swift imports a C array of VIDEO_MAX_PLANES numbers.
package struct PlaneValues {
    package typealias Array = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
    package var array: Array

    package init(_ array: Array) { self.array = array }

    /// The number of a plane; 0 for an impossible index.
    package subscript(plane: Int) -> Int {
        switch plane {
        case 0: Int(array.0)
        case 1: Int(array.1)
        case 2: Int(array.2)
        case 3: Int(array.3)
        case 4: Int(array.4)
        case 5: Int(array.5)
        case 6: Int(array.6)
        case 7: Int(array.7)
        default: 0
        }
    }

    /// The numbers of the first planes.
    package func first(_ count: UInt32) -> [Int] { (0..<min(8, Int(count))).map { self[$0] } }
}

import Foundation
import InletCore
import Testing

extension I420Buffer {
    /// The planes one after another without padding, as in FFmpeg's rawvideo.
    var packed: [UInt8] { Plane.allCases.flatMap(packed(_:)) }

    /// A plane without padding.
    func packed(_ plane: Plane) -> [UInt8] {
        let rows = Self.rows(of: plane, in: size)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rows.width * rows.height)
        for index in 0..<rows.height {
            unsafe row(index, of: plane).withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}

/// The similarity of two packed I420 pictures of the same size.
struct PictureComparison: CustomStringConvertible {
    /// Decibels for Y, U and V; infinite if they are equal.
    let planes: [Double]
    /// Decibels over all samples, the average of ffmpeg's psnr filter.
    let average: Double

    /// Decibels of the plane that differs most.
    var worst: Double { planes.min() ?? 0 }

    init(_ left: [UInt8], _ right: [UInt8], size: ImageSize) {
        let luma = size.width * size.height
        let chroma = size.chroma.width * size.chroma.height
        guard left.count == right.count, left.count == luma + 2 * chroma else {
            (planes, average) = ([0], 0)
            return
        }
        let bounds = [0, luma, luma + chroma, luma + 2 * chroma]
        let sums = zip(bounds, bounds.dropFirst()).map { start, end in
            (start..<end).reduce(0) { sum, index in
                let difference = Int(left[index]) - Int(right[index])
                return sum + difference * difference
            }
        }
        func decibels(_ sum: Int, _ count: Int) -> Double {
            sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(count) / Double(sum))
        }
        planes = zip(sums, [luma, chroma, chroma]).map(decibels)
        average = decibels(sums.reduce(0, +), luma + 2 * chroma)
    }

    var description: String { planes.map { String(format: "%.1f", $0) }.joined(separator: "/") + " dB" }
}

/// Expects equal bytes, and names the first that differs; `#expect` would look for the shortest edit between two
/// pictures for minutes.
func expectSame(
    _ actual: [UInt8], _ expected: [UInt8], _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    if actual == expected { return }
    guard actual.count == expected.count, let index = actual.indices.first(where: { actual[$0] != expected[$0] }) else {
        Issue.record("\(what): \(actual.count) bytes instead of \(expected.count)", sourceLocation: sourceLocation)
        return
    }
    Issue.record(
        "\(what): byte \(index) of \(actual.count) is \(actual[index]), not \(expected[index])",
        sourceLocation: sourceLocation)
}

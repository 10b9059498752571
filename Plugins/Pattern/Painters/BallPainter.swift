import InletCore

/// Draws ``TestPattern/ball``: an orange ball in front of a dark wall. Its radius is an eighth of the picture's
/// shorter side.
struct BallPainter: PatternPainter {
    private let radius: Int
    private let horizontal: Track
    private let vertical: Track

    private static let wall = YUVColor(y: 40, u: 128, v: 128)
    private static let ball = YUVColor(y: 160, u: 54, v: 184)

    /// A back-and-forth motion along one axis, at constant speed.
    private struct Track {
        let length: Int
        let start: Int
        let speed: Int

        /// Returns the position of the ball's edge in a frame.
        func position(_ frame: UInt64) -> Int {
            guard length > 0 else { return 0 }
            let period = UInt64(2 * length)
            let phase = Int((UInt64(start) + frame % period * UInt64(speed)) % period)
            return phase < length ? phase : 2 * length - phase
        }
    }

    init(size: ImageSize, seed: UInt64) {
        let shorter = min(size.width, size.height)
        radius = max(2, shorter / 8)
        var numbers = SplitMix64(seed: seed)
        func track(_ side: Int, _ radius: Int) -> Track {
            let length = side - 2 * radius
            return Track(
                length: length, start: Int(numbers.next() % UInt64(2 * length)),
                // Never zero, and different on the two axes for most seeds, so that the ball reaches all parts of the
                // picture.
                speed: 1 + shorter / 80 + Int(numbers.next() % UInt64(1 + shorter / 80)))
        }
        horizontal = track(size.width, radius)
        vertical = track(size.height, radius)
    }

    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        draft.fill(y: Self.wall.y, u: Self.wall.u, v: Self.wall.v)
        let x = horizontal.position(frame)
        let y = vertical.position(frame)
        for row in 0..<2 * radius {
            let half = halfWidth(row)
            let columns = x + radius - half..<x + radius + half
            // Rows are drawn one at a time; chroma is drawn in even rows.
            draft.fill(columns: columns, rows: y + row..<y + row + 1, with: Self.ball)
        }
    }

    /// Returns half the width of the ball in a row, by the Pythagorean theorem in half pixels.
    private func halfWidth(_ row: Int) -> Int {
        let distance = 2 * row + 1 - 2 * radius
        return Int((Double(4 * radius * radius - distance * distance).squareRoot() / 2).rounded())
    }
}

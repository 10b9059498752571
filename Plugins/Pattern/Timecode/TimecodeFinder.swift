public import InletCore

/// Finds and reads the timecode of a filmed screen. The screen shows the upper rows of a `pattern:timecode` picture in
/// a white frame, which may be anywhere in the camera's picture, rotated, and seen at an angle.
///
/// The frame is one cell wide, is the brightest large object in the picture, and has black around it. Its position is
/// remembered, because usually neither the camera nor the screen moves.
public struct TimecodeFinder: Sendable {
    /// The cells of the frame and its content.
    private static let grid = (columns: TimecodeLayout.columns + 2, rows: TimecodeLayout.codeRows.upperBound + 2)
    /// The longest side of the downscaled picture in which the frame is searched for.
    private static let searched = 480
    /// The minimum area of the frame: the picture's area divided by this number.
    private static let leastPart = 200
    /// The maximum number of bright objects to examine.
    private static let mostCandidates = 4

    private var known: CameraQuad?

    /// Creates a finder without a remembered position.
    public init() {}

    /// Returns the timecode in a picture; nil if none is found or it cannot be read, for example because two codes
    /// were exposed into one picture.
    public mutating func read(_ picture: I420Buffer) -> Timecode? {
        if let known, let code = Self.read(picture, at: known) { return code }
        for candidate in Self.frames(in: picture) {
            // Any corner may come first, because cameras may be rotated; the picture of a camera that faces its user
            // may be mirrored.
            for quad in candidate.orientations {
                guard let code = Self.read(picture, at: quad) else { continue }
                known = quad
                return code
            }
        }
        return nil
    }

    /// Reads the code in a frame with these corners.
    private static func read(_ picture: I420Buffer, at quad: CameraQuad) -> Timecode? {
        guard let mapping = quad.mapping else { return nil }
        func level(_ column: Int, _ row: Int) -> Int? {
            var sum = 0
            for (x, y) in [(0.35, 0.35), (0.65, 0.35), (0.5, 0.5), (0.35, 0.65), (0.65, 0.65)] {
                let place = mapping.place(
                    (Double(column + 1) + x) / Double(grid.columns), (Double(row + 1) + y) / Double(grid.rows))
                guard let x = Int(exactly: place.x.rounded()), let y = Int(exactly: place.y.rounded()),
                    (0..<picture.size.width).contains(x), (0..<picture.size.height).contains(y)
                else { return nil }
                sum += Int(picture.row(y, of: .y)[x])
            }
            return sum
        }
        var sums = (black: 0, white: 0)
        for column in 0..<TimecodeLayout.columns {
            guard let level = level(column, 0) else { return nil }
            if TimecodeLayout.isWhiteReference(column: column) { sums.white += level } else { sums.black += level }
        }
        guard sums.white - sums.black >= TimecodeReader.leastContrast * 5 * TimecodeLayout.columns / 2 else {
            return nil
        }
        let threshold = (sums.white + sums.black) / TimecodeLayout.columns
        var code: UInt128 = 0
        for row in TimecodeLayout.codeRows {
            for column in 0..<TimecodeLayout.columns {
                guard let level = level(column, row) else { return nil }
                if level > threshold { code |= 1 << UInt128(TimecodeLayout.bit(column: column, row: row)) }
            }
        }
        return Timecode(code: code)
    }

    /// Returns the corners of large bright objects, the largest first.
    private static func frames(in picture: I420Buffer) -> [CameraQuad] {
        let step = max(1, (max(picture.size.width, picture.size.height) + searched - 1) / searched)
        let (width, height) = (picture.size.width / step, picture.size.height / step)
        guard width >= grid.columns, height >= grid.rows else { return [] }
        var levels = [UInt8](repeating: 0, count: width * height)
        for y in 0..<height {
            let row = picture.row(y * step, of: .y)
            for x in 0..<width { levels[y * width + x] = row[x * step] }
        }
        let threshold = Self.threshold(of: levels)
        var isBright = levels.map { $0 > threshold }
        var found: [(area: Int, quad: CameraQuad)] = []
        var waiting: [Int] = []
        for start in isBright.indices where isBright[start] {
            var corners = BrightCorners()
            isBright[start] = false
            waiting.append(start)
            while let place = waiting.popLast() {
                let (x, y) = (place % width, place / width)
                corners.add(x, y)
                if x > 0, isBright[place - 1] { take(place - 1) }
                if x < width - 1, isBright[place + 1] { take(place + 1) }
                if y > 0, isBright[place - width] { take(place - width) }
                if y < height - 1, isBright[place + width] { take(place + width) }
            }
            if corners.area * leastPart >= width * height {
                found.append((corners.area, corners.quad(scaledBy: Double(step))))
            }
        }
        return found.sorted { $0.area > $1.area }.prefix(mostCandidates).map(\.quad)

        func take(_ place: Int) {
            isBright[place] = false
            waiting.append(place)
        }
    }

    /// Returns the level that best separates bright from dark (Otsu, 1979).
    private static func threshold(of levels: [UInt8]) -> UInt8 {
        var counts = [Int](repeating: 0, count: 256)
        for level in levels { counts[Int(level)] += 1 }
        let total = counts.indices.reduce(0) { $0 + $1 * counts[$1] }
        var (below, sumBelow, best, threshold) = (0, 0, -1.0, 127)
        for level in 0..<255 {
            below += counts[level]
            sumBelow += level * counts[level]
            let above = levels.count - below
            guard below > 0, above > 0 else { continue }
            let difference = Double(sumBelow) / Double(below) - Double(total - sumBelow) / Double(above)
            let spread = Double(below) * Double(above) * difference * difference
            if spread > best { (best, threshold) = (spread, level) }
        }
        return UInt8(threshold)
    }
}

/// The outermost points of a bright object.
private struct BrightCorners {
    private var least: (x: Int, y: Int) = (.max, .max)
    private var most: (x: Int, y: Int) = (.min, .min)
    /// The points with the smallest and the largest sum and difference of their coordinates, and those values.
    private var ends: [(value: Int, x: Int, y: Int)] = Array(repeating: (.min, 0, 0), count: 4)

    /// The area of the object's bounding box.
    var area: Int { (most.x - least.x + 1) * (most.y - least.y + 1) }

    mutating func add(_ x: Int, _ y: Int) {
        least = (min(least.x, x), min(least.y, y))
        most = (max(most.x, x), max(most.y, y))
        for (index, value) in [-x - y, x - y, x + y, y - x].enumerated() where value > ends[index].value {
            ends[index] = (value, x, y)
        }
    }

    /// The corners, clockwise from the upper left, at the outer edges of their pixels.
    func quad(scaledBy scale: Double) -> CameraQuad {
        let outward = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
        return CameraQuad(
            corners: zip(ends, outward).map { end, edge in
                .init(x: (Double(end.x) + edge.0) * scale, y: (Double(end.y) + edge.1) * scale)
            })
    }
}

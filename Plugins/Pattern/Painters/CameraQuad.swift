/// A rectangle as a camera sees it: four corners, clockwise.
struct CameraQuad: Sendable, Hashable {
    /// A position in a picture, in pixels.
    struct Point: Sendable, Hashable {
        var x: Double
        var y: Double
    }

    /// The corners, clockwise from the upper left corner of the rectangle.
    var corners: [Point]

    /// The quad with each corner as the first one, and each of these mirrored.
    var orientations: [CameraQuad] {
        let turned = (0..<4).map { first in CameraQuad(corners: (0..<4).map { corners[(first + $0) % 4] }) }
        return turned
            + turned.map { CameraQuad(corners: [$0.corners[1], $0.corners[0], $0.corners[3], $0.corners[2]]) }
    }

    /// The mapping of the unit square to the quad; nil if the corners lie on a line.
    var mapping: Mapping? { Mapping(corners) }

    /// A projective mapping (Heckbert, 1989, section 2.2.3).
    struct Mapping: Sendable {
        private let (a, b, c, d, e, f, g, h): (Double, Double, Double, Double, Double, Double, Double, Double)

        fileprivate init?(_ corners: [Point]) {
            guard corners.count == 4 else { return nil }
            let (p, q, r, s) = (corners[0], corners[1], corners[2], corners[3])
            let (dx1, dx2, dx3) = (q.x - r.x, s.x - r.x, p.x - q.x + r.x - s.x)
            let (dy1, dy2, dy3) = (q.y - r.y, s.y - r.y, p.y - q.y + r.y - s.y)
            let area = dx1 * dy2 - dx2 * dy1
            guard abs(area) > 1 else { return nil }
            g = (dx3 * dy2 - dx2 * dy3) / area
            h = (dx1 * dy3 - dx3 * dy1) / area
            (a, b, c) = (q.x - p.x + g * q.x, s.x - p.x + h * s.x, p.x)
            (d, e, f) = (q.y - p.y + g * q.y, s.y - p.y + h * s.y, p.y)
        }

        /// Returns the position of a point of the unit square.
        func place(_ u: Double, _ v: Double) -> Point {
            let scale = g * u + h * v + 1
            return Point(x: (a * u + b * v + c) / scale, y: (d * u + e * v + f) / scale)
        }
    }
}

/// A world of Conway's Game of Life with wrap-around edges.
struct LifeWorld: Equatable {
    let width: Int
    let height: Int
    private(set) var cells: [Bool]

    /// Makes a world with about a third of its cells alive. The same seed gives the same world.
    init(width: Int, height: Int, seed: UInt64) {
        self.width = width
        self.height = height
        var state = seed
        cells = (0..<width * height).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 32 % 3 == 0
        }
    }

    /// Makes a world from text: one line per row, `#` for a live cell.
    init(_ text: String) {
        let lines = text.split(separator: "\n")
        width = lines.first?.count ?? 0
        height = lines.count
        cells = lines.joined().map { $0 == "#" }
    }

    func isAlive(_ x: Int, _ y: Int) -> Bool {
        cells[(y + height) % height * width + (x + width) % width]
    }

    /// Advances by one generation.
    mutating func step() {
        let before = self
        for y in 0..<height {
            for x in 0..<width {
                var neighbours = 0
                for (dx, dy) in [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]
                where before.isAlive(x + dx, y + dy) {
                    neighbours += 1
                }
                cells[y * width + x] = neighbours == 3 || (neighbours == 2 && before.isAlive(x, y))
            }
        }
    }
}

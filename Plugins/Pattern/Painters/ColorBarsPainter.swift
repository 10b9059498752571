import InletCore

/// Draws ``TestPattern/smpte``.
///
/// From 720 lines up it is SMPTE RP 219-1:2014, with white and black where the standard leaves a choice (its *2 and
/// *3). Below, it is SMPTE EG 1-1990 in the digital form of BT.601. Edges lie on even pixels, so that no chroma sample
/// has two colours.
struct ColorBarsPainter: PatternPainter {
    /// A row of bars, `height` twelfths of the picture high.
    struct Band {
        let height: Int
        let bars: [Bar]
    }

    /// A bar; its width is in 168ths of the picture's, which suits both standards.
    struct Bar {
        let width: Int
        let fill: Fill
    }

    enum Fill {
        case color(YUVColor)
        /// A ramp from black at the left to white at the right.
        case ramp
    }

    let bands: [Band]

    init(highDefinition: Bool) {
        bands = highDefinition ? Self.rp219 : Self.eg1
    }

    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        let size = draft.size
        var top = 0
        var twelfths = 0
        for band in bands {
            twelfths += band.height
            let bottom = twelfths == 12 ? size.height : even(size.height * twelfths / 12)
            var left = 0
            var parts = 0
            for bar in band.bars {
                parts += bar.width
                let right = parts == 168 ? size.width : even(size.width * parts / 168)
                switch bar.fill {
                case .color(let color): draft.fill(columns: left..<right, rows: top..<bottom, with: color)
                case .ramp: ramp(&draft, columns: left..<right, rows: top..<bottom)
                }
                left = right
            }
            top = bottom
        }
    }

    private func ramp(_ draft: inout I420Draft, columns: Range<Int>, rows: Range<Int>) {
        draft.fill(columns: columns, rows: rows, with: .black)
        for column in columns {
            let level = Double(column - columns.lowerBound) / Double(max(1, columns.count - 1))
            let value = YUVColor.gray(level: level).y
            draft.fill(.y, columns: column..<column + 1, rows: rows.prefix(1), with: value)
        }
        draft.copy(.y, row: rows.lowerBound, columns: columns, to: rows)
    }

    private func even(_ position: Int) -> Int { position & ~1 }

    /// Returns white, yellow, cyan, green, magenta, red and blue, in order of decreasing luma.
    private static func primaries(_ level: Double, _ matrix: ColorMatrix) -> [YUVColor] {
        [7, 6, 3, 2, 5, 4, 1].map { bits in rgb(bits, level, matrix) }
    }

    /// Returns a colour whose components are either `level` or zero: bit 2 is red, bit 1 green, bit 0 blue.
    private static func rgb(_ bits: Int, _ level: Double, _ matrix: ColorMatrix) -> YUVColor {
        YUVColor(
            red: bits & 4 == 0 ? 0 : level, green: bits & 2 == 0 ? 0 : level, blue: bits & 1 == 0 ? 0 : level,
            matrix: matrix)
    }

    private static let eg1: [Band] = {
        let bars = primaries(0.75, .smpte170m)
        let seventh = 24
        // The castellations are the bars that contain blue, in reverse order, for adjusting hue and saturation.
        let castellations = [bars[6], .black, bars[4], .black, bars[2], .black, bars[0]]
        // -I and +Q are the NTSC colour axes at 33 degrees, with 20 IRE of chroma on black.
        let minusI = YUVColor(y: 16, u: 156, v: 97)
        let plusQ = YUVColor(y: 16, u: 171, v: 148)
        // PLUGE bars are 4 IRE below and above black. The range from black to white is 92.5 IRE.
        let pluge = 4 / 92.5
        let bottom: [(Int, YUVColor)] = [
            (30, minusI), (30, .white), (30, plusQ), (30, .black), (8, .gray(level: -pluge)), (8, .black),
            (8, .gray(level: pluge)), (24, .black),
        ]
        return [
            Band(height: 8, bars: bars.map { Bar(width: seventh, fill: .color($0)) }),
            Band(height: 1, bars: castellations.map { Bar(width: seventh, fill: .color($0)) }),
            Band(height: 3, bars: bottom.map { Bar(width: $0.0, fill: .color($0.1)) }),
        ]
    }()

    private static let rp219: [Band] = {
        let bars = primaries(0.75, .bt709)
        let side = 21
        let bar = 18
        let cyan = rgb(3, 1, .bt709)
        let blue = rgb(1, 1, .bt709)
        let yellow = rgb(6, 1, .bt709)
        let red = rgb(4, 1, .bt709)
        func plain(_ list: [(Int, YUVColor)]) -> [Bar] { list.map { Bar(width: $0.0, fill: .color($0.1)) } }
        let bottom: [(Int, YUVColor)] = [
            (side, .gray(level: 0.15)), (bar * 3 / 2, .black), (bar * 2, .white), (bar * 5 / 6, .black),
            (bar / 3, .gray(level: -0.02)), (bar / 3, .black), (bar / 3, .gray(level: 0.02)), (bar / 3, .black),
            (bar / 3, .gray(level: 0.04)), (bar, .black), (side, .gray(level: 0.15)),
        ]
        return [
            Band(
                height: 7,
                bars: plain([(side, .gray(level: 0.4))] + bars.map { (bar, $0) } + [(side, .gray(level: 0.4))])),
            Band(height: 1, bars: plain([(side, cyan), (bar, .white), (bar * 6, bars[0]), (side, blue)])),
            Band(
                height: 1,
                bars: plain([(side, yellow), (bar, .black)]) + [Bar(width: bar * 6, fill: .ramp)]
                    + plain([(side, red)])),
            Band(height: 3, bars: plain(bottom)),
        ]
    }()
}

package import InletCore

/// Draws a few words into a picture, large and centred, so that they can be read in a small preview.
///
/// Upper and lower case look the same; a character that the font lacks is drawn as a question mark.
package enum PlaceholderText {
    /// Dark grey and near white, in limited range.
    package static let background: UInt8 = 40
    package static let foreground: UInt8 = 220
    package static let colorSpace = ColorSpace.bt601

    /// Draws lines of text. Text that does not fit is cut off.
    package static func draw(_ lines: [String], into draft: inout I420Draft) {
        let size = draft.size
        let texts = lines.map { Array($0.uppercasedASCII) }
        let longest = max(1, texts.map(\.count).max() ?? 1)
        // A cell is 6x9 dots: a letter of 5x7 and the space to the next. Margins of two cells leave room for overscan.
        let scale = max(1, min(size.width / ((longest + 4) * 6), size.height / ((lines.count + 2) * 9)))
        let stride = draft.strides.y
        var luma = draft.mutableBytes(of: .y)
        var top = (size.height - texts.count * 9 * scale) / 2
        for text in texts {
            var left = (size.width - (text.count * 6 - 1) * scale) / 2
            for character in text {
                let rows = glyphs[character] ?? glyphs["?"] ?? []
                for (row, bits) in rows.enumerated() {
                    for column in 0..<5 where bits & (16 >> column) != 0 {
                        fill(
                            &luma, stride: stride, size: size, left: left + column * scale, top: top + row * scale,
                            side: scale)
                    }
                }
                left += 6 * scale
            }
            top += 9 * scale
        }
    }

    private static func fill(
        _ luma: inout MutableSpan<UInt8>, stride: Int, size: ImageSize, left: Int, top: Int, side: Int
    ) {
        for row in max(0, top)..<max(0, top, min(top + side, size.height)) {
            for column in max(0, left)..<max(0, left, min(left + side, size.width)) {
                luma[row * stride + column] = foreground
            }
        }
    }

    /// The letters as 5x7 dots, one number a row, in which the leftmost dot is worth 16.
    private static let glyphs: [Character: [UInt8]] = [
        "A": [14, 17, 17, 31, 17, 17, 17], "B": [30, 17, 17, 30, 17, 17, 30], "C": [14, 17, 16, 16, 16, 17, 14],
        "D": [30, 17, 17, 17, 17, 17, 30], "E": [31, 16, 16, 30, 16, 16, 31], "F": [31, 16, 16, 30, 16, 16, 16],
        "G": [14, 17, 16, 23, 17, 17, 15], "H": [17, 17, 17, 31, 17, 17, 17], "I": [14, 4, 4, 4, 4, 4, 14],
        "J": [7, 2, 2, 2, 2, 18, 12], "K": [17, 18, 20, 24, 20, 18, 17], "L": [16, 16, 16, 16, 16, 16, 31],
        "M": [17, 27, 21, 21, 17, 17, 17], "N": [17, 25, 21, 19, 17, 17, 17], "O": [14, 17, 17, 17, 17, 17, 14],
        "P": [30, 17, 17, 30, 16, 16, 16], "Q": [14, 17, 17, 17, 21, 18, 13], "R": [30, 17, 17, 30, 20, 18, 17],
        "S": [15, 16, 16, 14, 1, 1, 30], "T": [31, 4, 4, 4, 4, 4, 4], "U": [17, 17, 17, 17, 17, 17, 14],
        "V": [17, 17, 17, 17, 17, 10, 4], "W": [17, 17, 17, 21, 21, 27, 17], "X": [17, 17, 10, 4, 10, 17, 17],
        "Y": [17, 17, 10, 4, 4, 4, 4], "Z": [31, 1, 2, 4, 8, 16, 31], "0": [14, 17, 19, 21, 25, 17, 14],
        "1": [4, 12, 4, 4, 4, 4, 14], "2": [14, 17, 1, 6, 8, 16, 31], "3": [30, 1, 1, 14, 1, 1, 30],
        "4": [2, 6, 10, 18, 31, 2, 2], "5": [31, 16, 30, 1, 1, 17, 14], "6": [6, 8, 16, 30, 17, 17, 14],
        "7": [31, 1, 2, 4, 8, 8, 8], "8": [14, 17, 17, 14, 17, 17, 14], "9": [14, 17, 17, 15, 1, 2, 12],
        " ": [], ".": [0, 0, 0, 0, 0, 12, 12], ",": [0, 0, 0, 0, 12, 4, 8], ":": [0, 12, 12, 0, 12, 12, 0],
        "-": [0, 0, 0, 31, 0, 0, 0], "/": [1, 1, 2, 4, 8, 16, 16], "'": [4, 4, 0, 0, 0, 0, 0],
        "(": [2, 4, 8, 8, 8, 4, 2], ")": [8, 4, 2, 2, 2, 4, 8], "%": [24, 25, 2, 4, 8, 19, 3],
        "?": [14, 17, 1, 6, 4, 0, 4],
    ]
}

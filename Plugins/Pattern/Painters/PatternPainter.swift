import InletCore

/// Draws the frames of one pattern. A frame depends only on its number, not on previously drawn frames.
protocol PatternPainter {
    /// Writes every pixel of the picture.
    ///
    /// - Parameter time: the capture time of the frame, in nanoseconds; only ``TestPattern/timecode`` shows it.
    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64)
}

extension PatternConfiguration {
    func makePainter() -> any PatternPainter {
        switch pattern {
        case .smpte: ColorBarsPainter(highDefinition: size.height >= 720)
        case .checkerboard: CheckerboardPainter()
        case .gradient: GradientPainter()
        case .zone: ZonePlatePainter()
        case .ball: BallPainter(size: size, seed: seed)
        case .noise: NoisePainter(seed: seed)
        case .solid: SolidPainter(color: color.yuv(matrix: colorSpace.matrix))
        case .timecode: TimecodePainter(framesPerSweep: UInt64(max(16, frameRate.doubleValue.rounded())))
        }
    }
}

/// Draws ``TestPattern/solid``.
struct SolidPainter: PatternPainter {
    let color: YUVColor

    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        draft.fill(y: color.y, u: color.u, v: color.v)
    }
}

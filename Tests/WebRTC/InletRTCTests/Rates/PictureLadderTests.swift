import InletCore
import InletRTC
import Testing

@Suite struct PictureLadderTests {
    private let full = ImageSize(width: 1280, height: 720)
    private func ladder(_ tiers: Int = 1) -> PictureLadder {
        PictureLadder(size: full, frameRate: Rational(30), tiers: tiers)
    }

    @Test("Fewer bits make smaller pictures before they lower the frame rate, and no step is skipped")
    func order() {
        let ladder = ladder()
        let steps = stride(from: 2_000_000, through: 10_000, by: -1000).map { ladder.step(for: $0) }
        #expect(steps == steps.sorted())
        #expect(Set(steps) == Set(0..<6))
        #expect(ladder.steps[ladder.step(for: 500_000)].size(of: full) == ImageSize(width: 640, height: 360))
    }

    @Test(
        "Every step except the last has at least the bits per pixel that pictures need",
        arguments: [60_000, 200_000, 400_000, 900_000, 2_500_000])
    func bitsPerPixel(bitrate: Int) {
        let ladder = ladder()
        let step = ladder.steps[ladder.step(for: bitrate)]
        let size = step.size(of: full)
        let pixels = Double(size.width * size.height) * 30 / Double(step.pictures)
        #expect(Double(bitrate) / pixels >= PictureLadder.fewestBitsPerPixel || step == ladder.steps.last)
    }

    @Test("A rate that oscillates around a boundary stays on the lower step")
    func margin() {
        let ladder = ladder()
        let edge = ladder.floor(of: 0)
        #expect(ladder.step(for: edge) == 0)
        #expect(ladder.step(for: edge - 1, from: 0) == 1)
        #expect(ladder.step(for: edge + 1, from: 1) == 1)
        #expect(ladder.step(for: edge * 5 / 4, from: 1) == 0)
    }

    @Test("Tiers divide the steps: each begins at the full, the half and the quarter size", arguments: [1, 2, 3])
    func tiers(count: Int) {
        let ladder = ladder(count)
        #expect(ladder.tiers == count)
        #expect((0..<count).flatMap { Array(ladder.steps(of: $0)) } == Array(0..<6))
        for tier in 0..<count {
            #expect(ladder.steps[ladder.steps(of: tier).lowerBound].quarters == [4, 2, 1][tier])
            for step in ladder.steps(of: tier) { #expect(ladder.tier(of: step) == tier) }
        }
    }

    @Test("Small pictures are not made tiny, and low frame rates not lower")
    func limits() {
        let small = PictureLadder(size: ImageSize(width: 320, height: 240), frameRate: Rational(10), tiers: 3)
        #expect(small.tiers == 2)
        #expect(small.steps.allSatisfy { $0.size(of: ImageSize(width: 320, height: 240)).height >= 90 })
        #expect(small.steps.allSatisfy { $0.pictures == 1 })
        #expect(PictureLadder(size: ImageSize(width: 64, height: 48), frameRate: nil, tiers: 3).steps.count == 1)
    }

    @Test("Sizes are even for any full size")
    func even() {
        for step in PictureLadder.allSteps.dropFirst() {
            let size = step.size(of: ImageSize(width: 853, height: 479))
            #expect(size.width % 2 == 0 && size.height % 2 == 0)
        }
    }
}

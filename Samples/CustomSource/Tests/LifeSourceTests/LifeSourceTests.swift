import InletCore
import InletTesting
import Testing

@testable import LifeSource

struct LifeSourceTests {
    @Test("The source passes the conformance suite of Inlet's own sources")
    func conformance() async {
        var suite = SourceConformance()
        suite.isDeterministic = true
        var configuration = LifeConfiguration()
        configuration.cells = ImageSize(width: 9, height: 7)
        configuration.frameRate = Rational(100)
        #expect(await suite.check(configuration) == [])
    }

    @Test("A blinker rotates, and rotates back")
    func blinker() {
        let upright = LifeWorld(".....\n..#..\n..#..\n..#..\n.....")
        var world = upright
        world.step()
        #expect(world == LifeWorld(".....\n.....\n.###.\n.....\n....."))
        world.step()
        #expect(world == upright)
    }

    @Test("Options are checked by name and range")
    func options() throws {
        var registry = PluginRegistry()
        registry.register(SourcePlugin.life)
        let configuration = try #require(try registry.source("life:?cells=5x6&fps=30") as? LifeConfiguration)
        #expect(configuration.cells == ImageSize(width: 5, height: 6))
        for wrong in ["life:?cells=2x2", "life:?cels=5x5", "life:?fps=0"] {
            #expect(throws: InletError.self) { try registry.source(wrong) }
        }
    }
}

import Testing

@testable import InletPluginLoader

struct SourceProcessFiguresTests {
    @Test("The late end of a process does not affect the process that runs since")
    func lateEnd() {
        let figures = SourceProcessFigures()
        figures.noteStart(10)
        figures.noteStart(11)
        figures.noteEnd(10)
        #expect(figures.processID == 11 && figures.starts == 2)
        figures.noteEnd(11)
        #expect(figures.processID == nil)
    }
}

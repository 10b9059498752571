import Foundation
import InletCore
import InletPrograms
import InletSystem
import ReferenceTools
import Testing

/// Programs whose standard output is kept.
@Suite(.blocking) struct ChildProcessTests {
    private static let limit = Duration.seconds(60)

    @Test("Output up to the limit is kept, and longer output is discarded")
    func output() throws {
        for (limit, count) in [(200_000, 200_000), (199_999, nil), (0, nil)] as [(Int, Int?)] {
            let child = try ChildProcess(["head", "-c", "200000", "/dev/zero"], keepingOutputUpTo: limit)
            #expect(child.wait(for: Self.limit) != nil)
            #expect(child.output?.count == count)
        }
    }

    @Test("A program without input reads its end, and all output before its own end is kept")
    func input() throws {
        let child = try ChildProcess(["sh", "-c", "cat; echo out; echo err >&2; exit 7"], keepingOutputUpTo: 100)
        child.closeInput()
        #expect(child.wait(for: Self.limit) == .status(7))
        #expect(child.output == Array("out\n".utf8))
        #expect(child.tail.text == "err")
    }

    @Test("A process that the program leaves behind with its output does not delay its end")
    func background() throws {
        let child = try ChildProcess(["sh", "-c", "sleep 1000 & echo $!"], keepingOutputUpTo: 100)
        child.closeInput()
        #expect(child.wait(for: Self.limit) == .status(0))
        let output = String(decoding: child.output ?? [], as: UTF8.self)
        let left = try #require(Int32(output.trimmed()))
        #expect(kill(left, SIGKILL) == 0)
    }
}

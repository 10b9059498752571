import Foundation
import ReferenceTools
import Testing

/// `inlet latency --via v4l2:` with a queue of known length, in a virtual machine whose clock counts instructions: a
/// busy host makes it slower, but does not change its results.
@Suite(
    .tags(.virtualMachine),
    .enabled(if: !VirtualMachine.isInside && VirtualMachine.canStart, "needs qemu-system-x86"))
struct QueueLatencyTests {
    private struct Measured: Decodable {
        var pictures: Int
        var unreadable: Int
        var delay: [String: Double]

        enum CodingKeys: String, CodingKey {
            case pictures, unreadable
            case delay = "delay_ms"
        }
    }

    /// Measures once for each length, in milliseconds.
    private static let script = """
        set -e
        for length in "$@"; do
            python3 -B Tests/Peers/v4l2-queue.py --stay --source /dev/video40 --target /dev/video41 --size 320x240 \
                --milliseconds "$length" </dev/null >/tmp/queue &
            queue=$!
            until [ -s /tmp/queue ]; do sleep 0.1; done
            "$0" latency 'pattern:timecode?size=320x240&fps=10' --via v4l2:/dev/video40 --from v4l2:/dev/video41 \
                --frames 30 --timeout 60 --json
            kill "$queue"
            wait "$queue" || true
            rm /tmp/queue
        done
        """

    @Test("The delay of a queue between two loopbacks is measured within 5 ms")
    func queue() throws {
        // Not a multiple of the interval between two pictures.
        let length = 230.0
        var differences: [Double] = []
        for _ in 0..<3 {
            let output = try ReferenceCommand.run(
                "env",
                [
                    "--chdir=\(VirtualMachine.root.path)", "Scripts/v4l2-vm", "--no-vivid", "--loopback",
                    "--instruction-clock", "--time-limit", "500", "--", "bash", "-c", Self.script,
                    VirtualMachine.inlet, "0", "\(length)",
                ])
            let measured = try output.split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(Measured.self, from: $0)
            }
            try #require(measured.count == 2)
            for each in measured { #expect(each.pictures == 30 && each.unreadable == 0) }
            let delays = try measured.map { try #require($0.delay["p50"]) }
            differences.append(delays[1] - delays[0])
            if abs(delays[1] - delays[0] - length) <= 5 {
                print("measured: delays of \(delays) ms without and with a queue of \(length) ms")
                return
            }
        }
        Issue.record("A queue of \(length) ms was measured as \(differences)")
    }
}

#if GStreamer
import Foundation
import Testing

/// The resources of a process after each of many rounds: descriptors, threads and resident memory in KiB.
struct RoundUsage {
    struct Figures: CustomStringConvertible {
        var descriptors, threads, memory: Int
        var description: String { "\(descriptors) \(threads) \(memory)" }
    }

    /// The number of rounds in random order; `INLET_ROUNDS=200` sets it to 200.
    static func rounds(by default: Int) -> Int {
        ProcessInfo.processInfo.environment["INLET_ROUNDS"].flatMap(Int.init) ?? `default`
    }

    private(set) var figures: [Figures] = []

    /// Records the resources that a process holds now.
    ///
    /// - Parameter process: the process ID; nil for this process.
    mutating func note(_ process: Int32? = nil) {
        let folder = "/proc/\(process.map(String.init) ?? "self")"
        func count(_ name: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").count) ?? 0
        }
        let status = (try? String(contentsOfFile: "\(folder)/status", encoding: .utf8)) ?? ""
        let resident = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let memory = resident?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        figures.append(Figures(descriptors: count("fd"), threads: count("task"), memory: memory))
    }

    /// Expects that the last quarter of the rounds holds no more than the first half did, except for what pools
    /// keep. Writes the figures to the file that `INLET_ROUNDS_FILE` names, if it is set.
    func expectNoGrowth(_ name: String, _ sourceLocation: SourceLocation = #_sourceLocation) {
        if let path = ProcessInfo.processInfo.environment["INLET_ROUNDS_FILE"] {
            let lines = figures.enumerated().map { "\(name) \($0) \($1)\n" }.joined()
            let before = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            try? (before + lines).write(toFile: path, atomically: true, encoding: .utf8)
        }
        let (early, late) = (figures.prefix((figures.count + 1) / 2), figures.suffix(max(1, figures.count / 4)))
        func expect(_ what: String, _ value: KeyPath<Figures, Int>, within more: Int) {
            let most = early.map { $0[keyPath: value] }.max() ?? 0
            let last = late.map { $0[keyPath: value] }.min() ?? 0
            #expect(
                last <= most + more, "\(what) grow: \(figures.map { $0[keyPath: value] })",
                sourceLocation: sourceLocation)
        }
        expect("descriptors", \.descriptors, within: 0)
        // Dispatch keeps a thread once it was needed. A thread that leaks in each round would make five more in 20
        // rounds.
        expect("threads", \.threads, within: 2)
        // In KiB: memory pools fill up for a while, by about 5 MiB in 200 rounds.
        expect("memory", \.memory, within: 32_768)
    }
}
#endif

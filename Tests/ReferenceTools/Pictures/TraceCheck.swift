import Foundation

/// Reads a Chrome trace with Python's JSON parser and checks it against the Trace Event Format.
public enum TraceCheck {
    /// The content of a trace.
    public struct Summary: Decodable, Sendable {
        /// Slices by the name of their thread, such as `decode`.
        public var slices: [String: Int]
        /// Instants by their own name.
        public var instants: [String: Int]
        /// The names of the processes.
        public var processes: [String]
        /// The names of the threads in display order.
        public var threads: [String]
        /// The total length of all slices of a thread, in nanoseconds.
        public var nanoseconds: [String: Int]
        /// The frames of a thread's slices, in the order of the file.
        public var frames: [String: [Int]]

        /// Returns the number of slices of all threads whose name contains a word.
        public func slices(of word: String) -> Int {
            slices.filter { $0.key.contains(word) }.values.reduce(0, +)
        }
    }

    /// - Parameter isCut: whether the closing bracket may be missing, as in a trace whose writer was killed.
    /// - Throws: if the trace is not JSON, lacks a field, or contains slices of one thread that overlap without
    ///   nesting.
    public static func run(_ path: String, isCut: Bool = false) throws -> Summary {
        let json = try ReferenceCommand.run("python3", ["-c", script, path, isCut ? "cut" : "whole"])
        return try JSONDecoder().decode(Summary.self, from: json)
    }

    private static let script = """
        import collections, decimal, json, sys
        text = open(sys.argv[1], encoding="utf-8").read()
        if sys.argv[2] == "cut":
            text = text.rstrip().rstrip(",") + "]"
        events = json.loads(text, parse_float=decimal.Decimal)
        assert isinstance(events, list)
        processes, threads, order, instants, slices = {}, {}, {}, collections.Counter(), collections.defaultdict(list)
        def ns(value):
            scaled = decimal.Decimal(value) * 1000
            assert scaled == int(scaled), value
            return int(scaled)
        for event in events:
            assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["name"], event
            track = (event["pid"], event["tid"])
            if event["ph"] == "M":
                if event["name"] == "process_name": processes[event["pid"]] = event["args"]["name"]
                elif event["name"] == "thread_name":
                    assert track not in threads, event
                    threads[track] = event["args"]["name"]
                else:
                    assert event["name"] == "thread_sort_index", event
                    order[track] = int(event["args"]["sort_index"])
            elif event["ph"] == "X":
                assert track in threads and event["cat"], event
                start, length = ns(event["ts"]), ns(event["dur"])
                assert length >= 0, event
                slices[track].append((start, start + length, int(event["args"]["frame"])))
            elif event["ph"] == "i":
                assert event["s"] in ("g", "p", "t") and ns(event["ts"]) is not None, event
                instants[event["name"]] += 1
            else: raise AssertionError(event)
        assert len(set(order.values())) == len(order)
        for track, found in slices.items():
            open_ends = []
            for start, end, _ in sorted(found, key=lambda slice: (slice[0], -slice[1])):
                while open_ends and open_ends[-1] <= start: open_ends.pop()
                assert not open_ends or end <= open_ends[-1], (threads[track], start, end)
                open_ends.append(end)
        print(json.dumps({
            "slices": {threads[track]: len(found) for track, found in slices.items()},
            "instants": instants, "processes": sorted(processes.values()),
            "threads": [threads[track] for track in sorted(threads, key=lambda track: (track[0], order[track]))],
            "nanoseconds": {threads[track]: sum(e - s for s, e, _ in found) for track, found in slices.items()},
            "frames": {threads[track]: [frame for _, _, frame in found] for track, found in slices.items()},
        }))
        """
}

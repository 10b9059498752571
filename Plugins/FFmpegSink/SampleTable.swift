import InletCore

/// The samples of a fragmented MP4 file so far, as the sample table of a file without fragments states them
/// (ISO/IEC 14496-12, 8.5 to 8.7).
struct SampleTable {
    /// The most samples. Their places take some 3 MB.
    static let most = 500_000

    /// Equal values of neighbouring samples.
    private struct Run<Value: Equatable> {
        var count: UInt32 = 1
        var value: Value
    }

    private var sizes: [UInt32] = []
    private var durations: [Run<UInt32>] = []
    private var offsets: [Run<Int32>] = []
    /// The numbers of the key frames, from 1.
    private var keys: [UInt32] = []
    /// The places of the runs of samples in the file, and their lengths.
    private var chunks: [(place: Int64, count: UInt32)] = []
    /// The decode time at which the last sample ends.
    private(set) var duration: Int64 = 0
    /// The composition time at which the sample that is shown last ends.
    private(set) var end: Int64 = 0

    var isEmpty: Bool { sizes.isEmpty }

    /// Adds a fragment that is at an offset in the file.
    ///
    /// - Returns: false if the table cannot describe it.
    mutating func add(_ fragment: MovieFragment, at offset: Int64) -> Bool {
        guard let start = Int64(exactly: fragment.decodeTime), lengthenLast(until: start) else { return false }
        for run in fragment.runs where !run.samples.isEmpty {
            guard sizes.count + run.samples.count <= Self.most else { return false }
            var place = offset + run.place
            chunks.append((place, UInt32(run.samples.count)))
            for sample in run.samples {
                sizes.append(sample.byteCount)
                Self.append(sample.duration, to: &durations)
                Self.append(sample.offset, to: &offsets)
                if sample.isKey { keys.append(UInt32(sizes.count)) }
                place += Int64(sample.byteCount)
                let shown = duration + Int64(sample.offset)
                duration += Int64(sample.duration)
                end = max(end, shown + Int64(sample.duration))
            }
        }
        return true
    }

    private static func append<Value>(_ value: Value, to runs: inout [Run<Value>]) {
        if let last = runs.indices.last, runs[last].value == value {
            runs[last].count += 1
        } else {
            runs.append(Run(value: value))
        }
    }

    /// Makes the last sample end where the next fragment begins: after a gap it begins later.
    private mutating func lengthenLast(until start: Int64) -> Bool {
        guard start != duration else { return true }
        guard start > duration, let last = durations.indices.last,
            let length = UInt32(exactly: start - duration + Int64(durations[last].value)), length <= Int32.max
        else { return false }
        durations[last].count -= 1
        if durations[last].count == 0 { durations.removeLast() }
        Self.append(length, to: &durations)
        duration = start
        return true
    }

    /// The boxes of the table, without `stsd`.
    var boxes: [UInt8] {
        var table = BoxWriter()
        table.append(BoxKind("stts"), Self.list(durations) { [$0.count, $0.value] })
        // Without this box, all samples are key frames.
        if keys.count < sizes.count { table.append(BoxKind("stss"), Self.list(keys) { [$0] }) }
        if offsets.contains(where: { $0.value != 0 }) {
            let isSigned = offsets.contains { $0.value < 0 }
            table.append(
                BoxKind("ctts"),
                Self.list(offsets, version: isSigned ? 1 : 0) { [$0.count, UInt32(bitPattern: $0.value)] })
        }
        let counts = chunks.indices.filter { $0 == 0 || chunks[$0].count != chunks[$0 - 1].count }
        table.append(BoxKind("stsc"), Self.list(counts) { [UInt32($0 + 1), chunks[$0].count, 1] })
        var sizesBox = BoxWriter()
        // The version, and that the sizes differ.
        sizesBox.append(UInt64(0))
        sizesBox.append(UInt32(sizes.count))
        for size in sizes { sizesBox.append(size) }
        table.append(BoxKind("stsz"), sizesBox.bytes)
        if chunks.allSatisfy({ $0.place <= UInt32.max }) {
            table.append(BoxKind("stco"), Self.list(chunks) { [UInt32($0.place)] })
        } else {
            table.append(
                BoxKind("co64"), Self.list(chunks) { [UInt32($0.place >> 32), UInt32(truncatingIfNeeded: $0.place)] })
        }
        return table.bytes
    }

    /// The content of a box with a list.
    private static func list<Entry>(
        _ entries: [Entry], version: UInt32 = 0, _ words: (Entry) -> [UInt32]
    ) -> [UInt8] {
        var list = BoxWriter()
        list.append(version << 24)
        list.append(UInt32(entries.count))
        for entry in entries { for word in words(entry) { list.append(word) } }
        return list.bytes
    }
}

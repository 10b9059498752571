import InletCore

/// The samples of a fragmented MP4 file so far, in the form of the sample table of a file without fragments (ISO/IEC
/// 14496-12, 8.5 to 8.7).
struct SampleTable {
    /// The maximum memory of a table, in bytes. A sample takes 4 to 20, depending on how regular the samples are.
    private static let most = 8_000_000
    /// An upper limit for the bytes that a sample and its run take in the file, with and without different times.
    private static let sampleSize = 28

    /// Consecutive samples with equal values.
    private struct Run<Value: Equatable> {
        var count: UInt32 = 1
        var value: Value
    }

    private var sizes: [UInt32] = []
    private var durations: [Run<UInt32>] = []
    private var offsets: [Run<Int32>] = []
    /// The numbers of the key frames, from 1.
    private var keys: [UInt32] = []
    /// The file positions of the runs of samples, and their lengths.
    private var chunks: [(place: Int64, count: UInt32)] = []
    /// The decode time at which the last sample ends.
    private(set) var duration: Int64 = 0
    /// The composition time at which the last displayed sample ends.
    private(set) var end: Int64 = 0

    var isEmpty: Bool { sizes.isEmpty }

    /// An upper limit for the bytes that the table takes in the file.
    var fileByteCount: Int { (sizes.count + chunks.count) * Self.sampleSize }

    private var byteCount: Int {
        sizes.count * 4 + (durations.count + offsets.count) * 8 + keys.count * 4 + chunks.count * 16
    }

    /// Adds a fragment at an offset in the file.
    ///
    /// - Returns: false if the table cannot describe it.
    mutating func add(_ fragment: MovieFragment, at offset: Int64) -> Bool {
        guard let start = Int64(exactly: fragment.decodeTime), lengthenLast(until: start) else { return false }
        for run in fragment.runs where !run.samples.isEmpty {
            chunks.append((offset + run.place, UInt32(run.samples.count)))
            for sample in run.samples {
                sizes.append(sample.byteCount)
                Self.append(sample.duration, to: &durations)
                Self.append(sample.offset, to: &offsets)
                if sample.isKey { keys.append(UInt32(sizes.count)) }
                let shown = duration + Int64(sample.offset)
                duration += Int64(sample.duration)
                // A sample without a known duration is shown in any case.
                end = max(end, shown + Int64(max(sample.duration, 1)))
            }
        }
        return byteCount <= Self.most
    }

    private static func append<Value>(_ value: Value, to runs: inout [Run<Value>]) {
        if let last = runs.indices.last, runs[last].value == value {
            runs[last].count += 1
        } else {
            runs.append(Run(value: value))
        }
    }

    /// Makes the last sample end where the next fragment begins, which is later after a gap.
    private mutating func lengthenLast(until start: Int64) -> Bool {
        guard start != duration else { return true }
        guard start > duration, let last = durations.indices.last,
            let length = UInt32(exactly: (start - duration).adding(saturating: Int64(durations[last].value))),
            length <= Int32.max
        else { return false }
        durations[last].count -= 1
        if durations[last].count == 0 { durations.removeLast() }
        Self.append(length, to: &durations)
        duration = start
        return true
    }

    /// Writes the boxes of the table, without `stsd`.
    func write(to writer: inout BoxWriter) {
        Self.write(BoxKind("stts"), durations, to: &writer) { [$0.count, $0.value] }
        // Without this box, all samples are key frames.
        if keys.count < sizes.count { Self.write(BoxKind("stss"), keys, to: &writer) { [$0] } }
        if offsets.contains(where: { $0.value != 0 }) {
            let isSigned = offsets.contains { $0.value < 0 }
            Self.write(BoxKind("ctts"), version: isSigned ? 1 : 0, offsets, to: &writer) {
                [$0.count, UInt32(bitPattern: $0.value)]
            }
        }
        let changes = chunks.indices.filter { $0 == 0 || chunks[$0].count != chunks[$0 - 1].count }
        Self.write(BoxKind("stsc"), changes, to: &writer) { [UInt32($0 + 1), chunks[$0].count, 1] }
        writer.box(BoxKind("stsz")) { box in
            // The version, and a zero that states that the sizes differ.
            box.append(UInt64(0))
            box.append(UInt32(sizes.count))
            for size in sizes { box.append(size) }
        }
        if chunks.allSatisfy({ $0.place <= UInt32.max }) {
            Self.write(BoxKind("stco"), chunks, to: &writer) { [UInt32($0.place)] }
        } else {
            Self.write(BoxKind("co64"), chunks, to: &writer) {
                [UInt32($0.place >> 32), UInt32(truncatingIfNeeded: $0.place)]
            }
        }
    }

    /// Writes a box with a list.
    private static func write<Entry>(
        _ kind: BoxKind, version: UInt32 = 0, _ entries: [Entry], to writer: inout BoxWriter,
        _ words: (Entry) -> [UInt32]
    ) {
        writer.box(kind) { box in
            box.append(version << 24)
            box.append(UInt32(entries.count))
            for entry in entries { for word in words(entry) { box.append(word) } }
        }
    }
}

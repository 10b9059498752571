import InletCore
import InletRTSP
import Testing

@Suite struct CaptureReaderTests {
    /// A capture written byte by byte from Docs/reference/rtsp-capture.md.
    private static let written: [UInt8] =
        Array("rtspcap/1 started=5 note=a%20b%25\n".utf8)
        + [6, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0] + Array("rtsp".utf8)
        + [1, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 2, 0xAA, 0xBB]
        + [77, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 3, 0xCC]
        + [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]

    private static var header: CaptureHeader {
        var header = CaptureHeader()
        header["started"] = "5"
        header["note"] = "a b%"
        return header
    }

    private static let records = [
        CaptureRecord(.opened, time: 0, bytes: Array("rtsp".utf8)),
        CaptureRecord(.received, time: 258, hasMore: true, bytes: [0xAA, 0xBB]),
        CaptureRecord(.timer, time: 1 << 32),
    ]

    /// Reads pieces of these sizes, repeatedly.
    private static func read(
        _ bytes: [UInt8], sizes: [Int] = [.max]
    ) throws(CaptureError) -> (header: CaptureHeader?, records: [CaptureRecord], isTorn: Bool) {
        var reader = CaptureReader()
        var records: [CaptureRecord] = []
        var rest = bytes[...]
        var turn = 0
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, sizes[turn % sizes.count]))
            turn += 1
            rest = rest.dropFirst(piece.count)
            reader.append(piece)
            while let record = try reader.next() { records.append(record) }
        }
        return (reader.header, records, reader.isTorn)
    }

    @Test("A capture is read as the reference describes it, and records of unknown kinds are marked as such")
    func layout() throws {
        let (header, records, isTorn) = try Self.read(Self.written)
        #expect(header == Self.header && !isTorn)
        #expect(records.filter { $0.knownKind != nil } == Self.records)
        #expect(records.count == 4 && records[2].kind == 77 && records[2].bytes == [0xCC])
    }

    @Test("A capture is written as the reference describes it")
    func writing() {
        var bytes = Self.header.bytes
        for record in Self.records { record.append(to: &bytes) }
        let unknown = Self.written.count - 33..<Self.written.count - 16
        var expected = Self.written
        expected.removeSubrange(unknown)
        #expect(bytes == expected)
    }

    @Test("Any split of the bytes equals one chunk", arguments: 1...60)
    func split(_ size: Int) throws {
        let whole = try Self.read(Self.written)
        let pieces = try Self.read(Self.written, sizes: [size, 1, 7])
        #expect(pieces.header == whole.header && pieces.records == whole.records)
    }

    @Test("A capture that is cut anywhere holds the records before the cut")
    func torn() throws {
        let whole = try Self.read(Self.written).records
        // The ends of the line and of each record.
        let ends = [34, 54, 72, 89, 105]
        for count in 0...Self.written.count {
            let (header, records, isTorn) = try Self.read(Array(Self.written.prefix(count)))
            #expect((header != nil) == (count >= ends[0]))
            #expect(records == Array(whole.prefix(ends.dropFirst().count { $0 <= count })))
            #expect(isTorn == (count > 0 && !ends.contains(count)))
        }
    }

    @Test(
        "A file that is not a capture is refused at once",
        arguments: [
            ("", nil), ("RTSP/1.0 200 OK\r\n\r\n", .notCapture), ("rtspcap/\n", .notCapture),
            ("rtspcap/x\n", .notCapture), ("rtspcap/2 a=b\n", .unknownVersion(2)),
            (String(repeating: "a", count: 9000), .notCapture),
            ("rtspcap/1 " + String(repeating: "a", count: 9000) + "\n", .notCapture),
        ] as [(String, CaptureError?)])
    func refusals(_ text: String, _ expected: CaptureError?) {
        var found: CaptureError?
        do throws(CaptureError) { _ = try Self.read(Array(text.utf8)) } catch { found = error }
        #expect(found == expected)
    }

    @Test(
        "An impossible length or time is refused before memory is allocated for it",
        arguments: [
            ([1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], 0, .recordTooLong(0xFFFF_FFFF)),
            ([1, 0, 0, 0, 0, 0x10, 0, 1], 0, .recordTooLong(1_048_577)),
            ([3, 0, 0, 0, 0, 1, 0, 1], 0, .recordTooLong(65_537)), ([8, 0, 0, 0, 0, 0, 0, 1], 0, .recordTooLong(1)),
            ([200, 0, 0, 0, 0, 0x10, 0, 1], 0, .recordTooLong(1_048_577)),
            ([8, 0, 0, 0, 0, 0, 0, 0], 0xFF, .timeOutOfRange), ([8, 0, 0, 0, 0, 0, 0, 0], 0, nil),
        ] as [([UInt8], UInt8, CaptureError?)])
    func limits(_ head: [UInt8], _ time: UInt8, _ expected: CaptureError?) {
        var found: CaptureError?
        do throws(CaptureError) {
            _ = try Self.read(CaptureHeader().bytes + head + [time, 0, 0, 0, 0, 0, 0, 0])
        } catch {
            found = error
        }
        #expect(found == expected)
    }

    @Test("A time that goes back counts as the latest one")
    func order() throws {
        var bytes = CaptureHeader().bytes
        for time: Int64 in [5, 3, 9] { CaptureRecord(.timer, time: time).append(to: &bytes) }
        #expect(try Self.read(bytes).records.map(\.time) == [5, 5, 9])
    }

    @Test("Facts for which the line has no room are left out")
    func longHeader() throws {
        var header = CaptureHeader()
        header["long"] = String(repeating: " ", count: 4000)
        header["short"] = "1"
        #expect(header.bytes.count <= CaptureHeader.longest)
        let read = try #require(try Self.read(header.bytes).header)
        #expect(read["long"] == nil && read["short"] == "1")
    }

    @Test("Changed bytes neither crash the reader nor break its limits", arguments: 0..<3000)
    func mutation(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var bytes = Self.written + Self.written.dropFirst(34)
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
            }
        }
        let whole = Result { () throws(CaptureError) in try Self.read(bytes) }
        let sizes = (0..<8).map { _ in Int.random(in: 1...40, using: &random) }
        let split = Result { () throws(CaptureError) in try Self.read(bytes, sizes: sizes) }
        switch (whole, split) {
        case (.success(let whole), .success(let split)):
            #expect(whole.records == split.records)
            #expect(whole.records.reduce(0) { $0 + $1.bytes.count } <= bytes.count)
            #expect(zip(whole.records, whole.records.dropFirst()).allSatisfy { $0.time <= $1.time })
        case (.failure(let whole), .failure(let split)): #expect(whole == split)
        default: Issue.record("\(whole) and \(split)")
        }
    }
}

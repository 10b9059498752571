import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem
import Logging
import PatternSource
import ReferenceTools
import Testing

@testable import InletPluginSDK

/// Sources called through the tables of `inlet_plugin.h`, as a host calls them. One test at a time, because some count
/// live objects.
@Suite(.serialized, .tags(.process)) struct PluginKitTests {
    @Test("the entry matches this header")
    func entry() {
        let entry = inlet_plugin_entry
        #expect(entry.magic == 0x544c_4e49)
        #expect(Int32(entry.major) == INLET_PLUGIN_MAJOR)
        #expect(entry.size == MemoryLayout<inlet_plugin>.size)
        #expect(unsafe entry.get_interface("inlet.source/2") == nil)
    }

    @Test("a stream has the source's description")
    func stream() throws {
        let source = try TableSource("scripted", "", host: FakeHost())
        let stream = try unsafe source.open()
        #expect(unsafe FixedText.text(stream.pixel_format) == "gray")
        #expect(unsafe FixedText.text(stream.codec) == "")
        #expect(unsafe (stream.width, stream.height) == (3, 2))
        #expect(unsafe stream.pacing == UInt32(INLET_PACING_LIVE))
        #expect(unsafe (stream.time_base.numerator, stream.time_base.denominator) == (1, 90000))
        #expect(unsafe (stream.frame_rate.numerator, stream.frame_rate.denominator) == (30000, 1001))
        #expect(unsafe (stream.color.primaries, stream.color.matrix, stream.color.range) == (1, 1, 1))
        #expect(unsafe (stream.rotation, stream.timestamp_bits) == (90, 32))
    }

    @Test("a picture is lent with its bytes, times and facts, and freed on release, even after the close")
    func picture() throws {
        let before = Ledger.shared.livePictures
        var source: TableSource? = try TableSource("scripted", "", host: FakeHost())
        try unsafe source?.open()
        _ = try source?.next()
        var lent = try source?.next().item
        source?.close()
        source = nil
        #expect(Ledger.shared.livePictures == before + 1)
        #expect(lent?.rows(2, of: 3, plane: 0) == [2, 3, 4, 5, 6, 7])
        let item = try unsafe #require(lent?.item)
        #expect(unsafe (item.is_packet, item.sequence, item.pts, item.duration) == (0, 1, 3000, 3000))
        #expect(unsafe (item.capture_time, item.wall_clock) == (77, 88))
        #expect(unsafe item.flags == UInt32(INLET_FLAG_KEY | INLET_FLAG_CORRUPT))
        #expect(unsafe (item.picture.width, item.picture.height, item.picture.plane_count) == (3, 2, 1))
        #expect(unsafe (item.picture.rotation, item.picture.color.matrix, item.picture.is_in_slot) == (90, 1, 0))
        #expect(unsafe item.picture.sample_aspect_ratio.numerator == 4)
        lent = nil
        #expect(Ledger.shared.livePictures == before)
    }

    @Test("the test pictures have the same bytes as without the tables")
    func pattern() throws {
        let host = try FakeHost()
        let source = try TableSource("pattern", "ball", [("size", "66x50"), ("pace", "none")], host: host)
        try unsafe source.open()
        var configuration = PatternConfiguration(.ball)
        configuration.size = ImageSize(width: 66, height: 50)
        configuration.pace = .unpaced
        let direct = configuration.makeSource()
        let context = SourceContext(clock: ThreadClock(), logger: .init(label: "test"))
        _ = try direct.open(context)
        defer { direct.close() }
        for number in 0..<5 {
            let item = try source.next().item
            let frame = try #require(try direct.next(context)?.frame)
            for index in 0..<3 {
                let (width, height) = index == 0 ? (66, 50) : (33, 25)
                let expected = try #require(frame.planes[index])
                let bytes = unsafe expected.bytesFromTop
                let rows = unsafe (0..<height).flatMap { row in
                    unsafe bytes[row * expected.stride..<row * expected.stride + width]
                }
                #expect(item.rows(height, of: width, plane: index) == rows, "plane \(index) of picture \(number)")
            }
            withExtendedLifetime(frame.owner) {}
        }
    }

    @Test("packets arrive with their times and flags, and with parameter sets that have changed")
    func packets() throws {
        let source = try TableSource("scripted", "packets", host: FakeHost())
        let stream = try unsafe source.open()
        #expect(unsafe FixedText.text(stream.codec) == "h264")
        unsafe #expect((stream.width, stream.height, stream.parameter_sets_length) == (64, 48, 5))
        unsafe #expect(stream.parameter_sets?[4] == 0x67)
        let items = try (0..<4).map { _ in try source.next().item }
        #expect(items.map(\.packet) == (0..<4).map { [0, 0, 1, 0x65, $0] })
        #expect(items.map { unsafe $0.item.sequence } == [0, 1, 2, 3])
        #expect(items.map { unsafe $0.item.pts } == [6000, 9000, 12000, 15000])
        #expect(items.map { unsafe $0.item.packet.dts } == [0, 3000, 6000, 9000])
        let flags = items.map { unsafe Int($0.item.flags) }
        #expect(flags == [INLET_FLAG_KEY] + Array(repeating: INLET_FLAG_LOSS, count: 3))
        #expect(items.map(\.parameterSets) == [[], [], [0, 0, 0, 1, 0x67, 0x42], []])
    }

    @Test(
        "options reach the source, including secrets; empty ones are not passed",
        arguments: [
            ([], "options 7 none"), ([("count", "12"), ("secret", "")], "options 12 none"),
            ([("secret", "a&b=c?%20@/é")], "options 7 a&b=c?%20@/é"),
        ] as [([(String, String)], String)])
    func options(given: [(String, String)], expected: String) throws {
        let source = try TableSource("scripted", "options", given, host: FakeHost())
        try unsafe source.open()
        let bytes = Array(expected.utf8)
        #expect(try source.next().item.rows(1, of: bytes.count, plane: 0) == bytes)
    }

    @Test("a wrong option gives a readable error", arguments: [("count", "1001"), ("cuont", "1")])
    func wrongOptions(name: String, value: String) throws {
        let failure = try #require(throws: TableSource.Failure.self) {
            try TableSource("scripted", "", [(name, value)], host: FakeHost())
        }
        #expect(failure.result == inlet_result(INLET_ERROR_INVALID_CONFIGURATION))
        #expect(failure.message.contains("count"))
    }

    @Test("an error arrives with its code, sentence, native code and retry time")
    func error() throws {
        let source = try TableSource("scripted", "missing", host: FakeHost())
        let failure = unsafe try #require(throws: TableSource.Failure.self) { try unsafe source.open() }
        #expect(failure.result == inlet_result(INLET_ERROR_NOT_FOUND))
        #expect(failure.message == "The camera is missing.")
        #expect(failure.nativeCode == 19)
        #expect(failure.retryAfter == 3_000_000_000)
        let reading = try TableSource("scripted", "fails", host: FakeHost())
        try unsafe reading.open()
        #expect(
            try #require(throws: TableSource.Failure.self) { try reading.next() }.result
                == inlet_result(INLET_ERROR_DISCONNECTED))
    }

    @Test("the end of a source is the end of the stream")
    func end() throws {
        let source = try TableSource("scripted", "end", host: FakeHost())
        try unsafe source.open()
        #expect(try source.next().result == INLET_END)
    }

    @Test("opening ends at its deadline")
    func openDeadline() throws {
        let source = try TableSource("scripted", "slow", host: FakeHost())
        let failure = unsafe try #require(throws: TableSource.Failure.self) {
            try unsafe source.open(within: .milliseconds(200))
        }
        #expect(failure.result == inlet_result(INLET_ERROR_TIMED_OUT))
    }

    @Test("a picture that arrives after the deadline is yielded by a later call")
    func again() throws {
        let source = try TableSource("scripted", "late", host: FakeHost())
        try unsafe source.open()
        #expect(try source.next().result == INLET_OK)
        #expect(try source.next(within: .milliseconds(10)).result == INLET_AGAIN)
        let (result, item) = try source.next()
        #expect(result == INLET_OK)
        #expect(unsafe item.item.sequence == 1)
        #expect(try source.next().result == INLET_OK)
    }

    @Test("a cancellation ends next at once, even if the source ignores it", arguments: ["blocks", "deaf"])
    func cancellation(script: String) throws {
        let host = try FakeHost()
        let source = try TableSource("scripted", script, host: host)
        try unsafe source.open()
        #expect(try source.next(within: .milliseconds(50)).result == INLET_AGAIN)
        let cancelled = MonotonicTimeBox()
        try SystemThread.start(named: "canceller") {
            ThreadClock().pause(.milliseconds(50))
            cancelled.note()
            host.cancel()
        }
        let failure = try #require(throws: TableSource.Failure.self) { try source.next() }
        #expect(failure.result == inlet_result(INLET_ERROR_CANCELLED))
        // The promise is 100 ms, but the machine may be busy. A source that ignores the cancellation takes two seconds.
        #expect(MonotonicTime.now - cancelled.time < .seconds(1))
        #expect(throws: TableSource.Failure.self) { try source.next() }
    }

    @Test("progress, drops, interruptions and log lines reach the host")
    func notes() throws {
        let host = try FakeHost()
        let source = try TableSource("scripted", "notes", host: host)
        try unsafe source.open()
        _ = try source.next()
        _ = try source.next()
        #expect(host.told.progress >= 1)
        #expect(host.told.drops == ["damaged": 4])
        #expect(host.told.interruptions == ["the shutter is shut", nil, "the shutter is shut", nil])
        #expect(LogLines.shared.all.contains("\(INLET_LOG_WARNING) a line number=1"))
    }

    @Test("the demand of sinks reaches the source; packets are requested only from a source of packets")
    func demand() throws {
        let host = try FakeHost()
        let source = try TableSource("scripted", "demand", host: host)
        try unsafe source.open()
        host.want(inlet_rational(numerator: 15, denominator: 2), packets: true)
        let bytes = Array("demand 15/2 false 3".utf8)
        #expect(try source.next().item.rows(1, of: bytes.count, plane: 0) == bytes)
    }

    @Test("a source pauses if it can, and otherwise reports that it cannot")
    func pause() throws {
        let source = try TableSource("scripted", "late", host: FakeHost())
        try unsafe source.open()
        _ = try source.next()
        // The picture in progress is kept.
        #expect(try source.next(within: .milliseconds(10)).result == INLET_AGAIN)
        try source.pause()
        try source.resume()
        #expect(unsafe try source.next().item.item.sequence == 1)
        let restless = try TableSource("scripted", "restless", host: FakeHost())
        try unsafe restless.open()
        let failure = try #require(throws: TableSource.Failure.self) { try restless.pause() }
        #expect(failure.result == inlet_result(INLET_ERROR_UNSUPPORTED))
    }

    @Test("a thousand sources leak no descriptor, thread or picture, and each is closed once")
    func thousand() throws {
        let (closed, pictures) = (Ledger.shared.closedSources, Ledger.shared.livePictures)
        let host = try FakeHost()
        func once() throws {
            let source = try TableSource("scripted", "", host: host)
            try unsafe source.open()
            _ = try source.next()
            source.close()
        }
        try once()
        let descriptors = try count("/proc/self/fd")
        for _ in 0..<1000 { try once() }
        #expect(Ledger.shared.closedSources == closed + 1001)
        #expect(Ledger.shared.livePictures == pictures)
        // A thread ends and frees its resources a moment after it has closed its source.
        var left = descriptors
        for _ in 0..<100 {
            left = try count("/proc/self/fd")
            if left <= descriptors { break }
            ThreadClock().pause(.milliseconds(50))
        }
        // Other tests of the process may open descriptors.
        #expect(left < descriptors + 100)
        #expect(try threads(named: "inlet-source") < 100)
    }

    private func count(_ folder: String) throws -> Int {
        try entries(folder).count
    }

    private func threads(named name: String) throws -> Int {
        let tasks = try entries("/proc/self/task")
        return tasks.count { task in
            guard let file = unsafe fopen("/proc/self/task/\(task)/comm", "r") else { return false }
            defer { unsafe fclose(file) }
            var line = [CChar](repeating: 0, count: 64)
            guard unsafe fgets(&line, 64, file) != nil else { return false }
            return line.prefix { $0 != 10 }.map { UInt8(bitPattern: $0) } == Array(name.utf8)
        }
    }

    private func entries(_ folder: String) throws -> [String] {
        let directory = try unsafe #require(opendir(folder))
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            names.append(unsafe FixedText.text(entry.pointee.d_name) ?? "")
        }
        return names
    }
}

extension ThreadClock {
    /// Blocks the thread for a time.
    fileprivate func pause(_ time: Duration) { _ = wait(until: now + time, wakeUpDescriptor: -1) }
}

import InletCore
import InletRTSP

// The file of a capture, and the writer of one.
//
// Input: a byte of flags, two chunk sizes, and bytes. The bytes are parsed as a capture, at once and in chunks of these
// sizes, with the same result. They are also captured as a server's data, which gives a file of the same lengths.

private struct Reading: Equatable {
    var records: [CaptureRecord] = []
    var failure: CaptureError?

    init(_ bytes: [UInt8], sizes: [Int]) {
        var reader = CaptureReader()
        var rest = bytes[...]
        var turn = 0
        do throws(CaptureError) {
            while !rest.isEmpty {
                let chunk = rest.prefix(max(1, sizes[turn % sizes.count]))
                turn += 1
                rest = rest.dropFirst(chunk.count)
                reader.append(chunk)
                while let record = try reader.next() { records.append(record) }
            }
        } catch {
            failure = error
        }
    }
}

/// Captures a server's data, and returns the file.
private func capture(_ bytes: [UInt8], sizes: [Int], settings: RTSPParser.Settings) -> (file: [UInt8], chunks: [Int]) {
    var writer = CaptureWriter(CaptureHeader(), start: MonotonicTime(nanoseconds: 0))
    var parser = RTSPParser(settings: settings)
    var (buffer, rest, chunks) = ([UInt8](), bytes[...], [Int]())
    receiving: while !rest.isEmpty {
        let chunk = Array(rest.prefix(max(1, sizes[chunks.count % sizes.count])))
        chunks.append(chunk.count)
        rest = rest.dropFirst(chunk.count)
        buffer += chunk
        unsafe writer.receive(chunk.span.bytes, hasMore: false, at: MonotonicTime(nanoseconds: Int64(chunks.count)))
        while true {
            do throws(RTSPParserError) {
                let (event, consumed) = try unsafe parser.next(buffer.span.bytes)
                writer.note(event, consumed: consumed)
                buffer.removeFirst(consumed)
                if case .needsMore = event { break }
            } catch {
                writer.noteParserFailure()
                break receiving
            }
        }
    }
    writer.close("ended", at: MonotonicTime(nanoseconds: Int64(chunks.count)))
    return (writer.takeOutput(), chunks)
}

/// Reads one input. Called by libFuzzer.
@c(LLVMFuzzerTestOneInput)
public func fuzzCapture(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let flags = input.byte()
    let sizes = [Int(input.byte()) + 1, Int(input.byte()) + 1]
    let bytes = input.rest()
    let whole = Reading(bytes, sizes: [.max])
    demand(Reading(bytes, sizes: sizes) == whole, "the result in chunks differs")
    demand(whole.records.reduce(0) { $0 + $1.bytes.count } <= bytes.count, "more bytes than the input has")

    var settings = RTSPParser.Settings()
    if flags & 1 != 0 { (settings.knownChannels, settings.knownPayloadTypes) = ([0, 1], [96]) }
    let written = capture(bytes, sizes: sizes, settings: settings)
    let read = Reading(written.file, sizes: [.max])
    demand(read.failure == nil, "the written file cannot be read")
    let received = read.records.filter { $0.knownKind == .received }.map(\.bytes.count)
    demand(received == Array(written.chunks.prefix(received.count)), "lengths differ from those that arrived")
    return 0
}

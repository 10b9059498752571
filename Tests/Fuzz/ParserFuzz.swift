import InletCore
import InletRTSP

// The stream of an RTSP connection.
//
// Input: a byte of flags, two chunk sizes, and the stream. The stream is parsed at once and in chunks of these sizes;
// the results must be the same, within the limits of the settings.

/// Everything that a parser finds in a stream.
private struct Run: Equatable {
    enum Item: Equatable {
        case packet(channel: UInt8, [UInt8])
        case event(RTSPParser.Event)
        case failure(RTSPParserError)
    }

    /// The maximum bytes that the parser requests at once: a frame's header and its largest payload.
    static let largestRequest = 65_539

    var items: [Item] = []
    var skipped = 0

    init(_ bytes: [UInt8], flags: UInt8, sizes: [Int]) {
        var settings = Self.settings(flags, isSetUp: flags & 1 != 0)
        var parser = RTSPParser(settings: settings)
        var buffer: [UInt8] = []
        var rest = bytes[...]
        var turn = 0
        while !rest.isEmpty {
            let chunk = rest.prefix(max(1, sizes[turn % sizes.count]))
            turn += 1
            rest = rest.dropFirst(chunk.count)
            buffer += chunk
            var wantsMore = false
            while !wantsMore {
                let found: (event: RTSPParser.Event, consumed: Int)
                do throws(RTSPParserError) {
                    found = try unsafe parser.next(buffer.span.bytes)
                } catch {
                    items.append(.failure(error))
                    return
                }
                demand((0...buffer.count).contains(found.consumed), "consumes more than there is")
                wantsMore = take(found, of: buffer, settings)
                buffer.removeFirst(found.consumed)
                // The second message sets up the session, at the same place for any split of the stream.
                if items.count == 2, flags & 2 != 0, !wantsMore {
                    settings = Self.settings(flags, isSetUp: true)
                    parser.settings = settings
                }
            }
            demand(buffer.count < Self.largestRequest, "\(buffer.count) bytes stay in the buffer")
            demand(parser.totalSkipped <= bytes.count, "skips more than arrived")
            skipped = parser.totalSkipped
        }
    }

    /// Records an event; returns whether more bytes are wanted.
    private mutating func take(
        _ found: (event: RTSPParser.Event, consumed: Int), of buffer: [UInt8], _ settings: RTSPParser.Settings
    ) -> Bool {
        switch found.event {
        case .needsMore(let least):
            let rest = buffer.count - found.consumed
            demand(least > rest, "asks for \(least) bytes of \(rest)")
            demand(least <= Self.largestRequest, "asks for \(least) bytes")
            return true
        case .interleaved(let channel, let range):
            demand(range.lowerBound >= 4 && range.upperBound == found.consumed, "a packet that was not consumed")
            items.append(.packet(channel: channel, Array(buffer[range])))
            return false
        case .gap(let skipped): demand(skipped <= settings.longestGap, "a gap of \(skipped) bytes")
        case .response(let response):
            demand((100...999).contains(response.status), "status \(response.status)")
            check(response.headers, response.body, settings)
            _ = response.description
        case .request(let request):
            check(request.headers, request.body, settings)
            _ = request.description
        }
        items.append(.event(found.event))
        return false
    }

    private func check(_ headers: RTSPHeaders, _ body: [UInt8], _ settings: RTSPParser.Settings) {
        demand(headers.fields.count <= settings.mostHeaders, "\(headers.fields.count) headers")
        demand(body.count <= settings.longestBody, "a body of \(body.count) bytes")
        let head = headers.fields.reduce(0) { $0 + $1.name.count + $1.value.count }
        demand(head <= settings.longestHead, "a head of \(head) bytes")
        demand(!headers.fields.contains { $0.name.contains(10) || $0.value.contains(10) }, "a header of two lines")
        _ = headers.description
    }

    private static func settings(_ flags: UInt8, isSetUp: Bool) -> RTSPParser.Settings {
        var settings = RTSPParser.Settings()
        if isSetUp {
            settings.knownChannels = [0, 1]
            if flags & 4 != 0 { settings.knownPayloadTypes = [26, 96] }
            if flags & 8 != 0 { settings.knownSSRC = 0x1122_3344 }
        }
        if flags & 16 != 0 {
            (settings.longestHead, settings.mostHeaders, settings.longestBody) = (300, 6, 200)
            settings.longestGap = 100
        }
        return settings
    }
}

/// Parses one input. Called by libFuzzer.
@c(LLVMFuzzerTestOneInput)
public func fuzzParser(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let flags = input.byte()
    let sizes = [Int(input.byte()), Int(input.byte())]
    let stream = input.rest()
    let whole = Run(stream, flags: flags, sizes: [.max])
    for sizes in [sizes, [1]] {
        let split = Run(stream, flags: flags, sizes: sizes)
        demand(split.items == whole.items, "chunks of \(sizes): \(split.items) instead of \(whole.items)")
    }
    return 0
}

import InletCore
import InletRTSP

/// Everything that a parser finds in some bytes, with the packets copied out of the buffer.
struct ParserRun: Equatable {
    enum Item: Equatable {
        case packet(channel: UInt8, [UInt8])
        case response(RTSPResponse)
        case request(RTSPRequest)
        case gap(Int)
        case failure(RTSPParserError)
    }

    var items: [Item] = []
    /// The largest number of bytes that stayed in the buffer.
    var largestRest = 0

    /// - Parameter sizes: the number of bytes that arrive at once, repeatedly. Zero counts as one.
    init(_ bytes: [UInt8], settings: RTSPParser.Settings = .init(), sizes: [Int] = [.max]) {
        var parser = RTSPParser(settings: settings)
        var buffer: [UInt8] = []
        var rest = bytes[...]
        var turn = 0
        while !rest.isEmpty {
            let chunk = rest.prefix(max(1, sizes[turn % sizes.count]))
            turn += 1
            rest = rest.dropFirst(chunk.count)
            buffer += chunk
            guard drain(&parser, &buffer) else { return }
            largestRest = max(largestRest, buffer.count)
        }
    }

    private mutating func drain(_ parser: inout RTSPParser, _ buffer: inout [UInt8]) -> Bool {
        while true {
            do throws(RTSPParserError) {
                let (event, consumed) = try unsafe parser.next(buffer.span.bytes)
                var wantsMore = false
                switch event {
                case .interleaved(let channel, let range): items.append(.packet(channel: channel, Array(buffer[range])))
                case .response(let response): items.append(.response(response))
                case .request(let request): items.append(.request(request))
                case .gap(let count): items.append(.gap(count))
                case .needsMore(let least):
                    precondition(least > buffer.count - consumed, "asks for what is there")
                    wantsMore = true
                }
                precondition(wantsMore || consumed > 0 || event.isGap, "no progress")
                buffer.removeFirst(consumed)
                if wantsMore { return true }
            } catch {
                items.append(.failure(error))
                return false
            }
        }
    }
}

extension RTSPParser.Event {
    fileprivate var isGap: Bool { if case .gap = self { true } else { false } }
}

/// Returns the bytes of an interleaved frame.
func frame(_ channel: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0x24, channel, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
}

/// Returns an RTP packet of payload type 96 from the source 0x11223344.
func packet(_ payload: [UInt8] = [0x65, 1, 2, 3]) -> [UInt8] {
    [0x80, 96, 0, 7, 0, 0, 0, 9, 0x11, 0x22, 0x33, 0x44] + payload
}

extension RTSPHeaders {
    /// The value of a header as text.
    func text(_ name: StaticString) -> String? { first(name).map { String(decoding: $0, as: UTF8.self) } }
}

/// Joins the sections of one packet identifier (ISO/IEC 13818-1, section 2.4.4) and checks them: each of at most 1024
/// bytes, as those that name programs and streams are.
struct SectionReader {
    let pid: Int
    private var bytes: [UInt8] = []
    private var counter: Int?
    private var isOpen = false

    private static let largest = 1024

    init(pid: Int) { self.pid = pid }

    /// Forgets the section that is being joined.
    mutating func reset() {
        isOpen = false
        counter = nil
        bytes.removeAll(keepingCapacity: true)
    }

    /// Reads a packet, and gives the sections that end in it to a function, each from its table's number to its check.
    ///
    /// - Returns: how many sections were wrong.
    mutating func read(_ packet: TransportPacket, _ payload: RawSpan, _ body: (RawSpan) -> Void) -> Int {
        guard payload.byteCount > 0 else { return 0 }
        if let counter, packet.counter == counter { return 0 }
        if let counter, packet.counter != (counter + 1) & 15 { isOpen = false }
        counter = packet.counter
        guard packet.startsUnit else {
            guard isOpen else { return 0 }
            append(payload)
            return take(body)
        }
        // A pointer to the first section that begins here; the bytes before it belong to the previous section.
        let pointer = Int(payload[0])
        guard 1 + pointer <= payload.byteCount else {
            isOpen = false
            return 1
        }
        var wrong = 0
        if isOpen {
            append(payload.extracting(1..<1 + pointer))
            wrong = take(body)
        }
        bytes.removeAll(keepingCapacity: true)
        isOpen = true
        append(payload.extracting(1 + pointer..<payload.byteCount))
        return wrong + take(body)
    }

    private mutating func append(_ more: RawSpan) {
        for index in 0..<more.byteCount where bytes.count < Self.largest + TransportPacket.size {
            bytes.append(more[index])
        }
    }

    private mutating func take(_ body: (RawSpan) -> Void) -> Int {
        var (start, wrong) = (0, 0)
        // Stuffing takes the position of the next table's number.
        while isOpen, start < bytes.count {
            guard bytes[start] != 0xFF else {
                isOpen = false
                break
            }
            guard bytes.count - start >= 3 else { break }
            let size = 3 + (Int(bytes[start + 1] & 0x0F) << 8 | Int(bytes[start + 2]))
            guard size <= Self.largest else {
                isOpen = false
                wrong += 1
                break
            }
            guard bytes.count - start >= size else { break }
            let section = bytes.rawBytes.extracting(start..<start + size)
            if Self.isRight(section) { body(section) } else { wrong += 1 }
            start += size
        }
        bytes.removeSubrange(..<min(start, bytes.count))
        return wrong
    }

    /// Whether a section has the long form and the right check.
    private static func isRight(_ section: RawSpan) -> Bool {
        section.byteCount >= 12 && section[1] & 0x80 != 0 && checksum(section) == 0
    }

    /// Returns the CRC of annex A: the polynomial 04C11DB7, from ones, neither reflected nor inverted. The CRC of bytes
    /// followed by their own CRC is zero.
    static func checksum(_ bytes: RawSpan) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for index in 0..<bytes.byteCount {
            value ^= UInt32(bytes[index]) << 24
            for _ in 0..<8 { value = value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1 }
        }
        return value
    }
}

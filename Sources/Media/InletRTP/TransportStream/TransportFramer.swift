/// Finds the packets of a transport stream in RTP payloads. By RFC 2250 (section 2) a payload holds whole packets, but
/// those of some senders do not. Keeps at most a payload and two packets.
struct TransportFramer {
    /// The bytes of an incomplete packet.
    private var rest: [UInt8] = []
    /// Whether the bytes are known to begin with a packet.
    private var isAligned = true
    /// The number of times bytes were skipped to find a packet.
    private(set) var gaps = 0
    /// The most packets that a piece has had: at least 7, as many as Ethernet carries.
    private(set) var mostPackets = 7

    /// Records that bytes before the next piece are missing.
    mutating func noteLoss() {
        rest.removeAll(keepingCapacity: true)
        isAligned = true
    }

    /// Reads a piece, and gives its packets to a function.
    mutating func read(_ piece: RawSpan, _ body: (RawSpan) -> Void) {
        mostPackets = max(mostPackets, piece.byteCount / TransportPacket.size)
        var index = 0
        if rest.isEmpty, isAligned {
            index = readAligned(piece, body)
            guard index < piece.byteCount else { return }
        }
        for place in index..<piece.byteCount { rest.append(piece[place]) }
        let rest = rest
        let used = readUnaligned(rest.rawBytes, body)
        // Otherwise the bytes would have two owners, and the change would copy them.
        _ = consume rest
        self.rest.removeSubrange(..<used)
    }

    /// Reads packets as long as they follow each other.
    ///
    /// - Returns: where they end.
    private func readAligned(_ bytes: RawSpan, _ body: (RawSpan) -> Void) -> Int {
        var index = 0
        let size = TransportPacket.size
        while bytes.byteCount - index >= size, bytes[index] == TransportPacket.syncByte {
            // A single sync byte may be chance; two at the distance of a packet are not.
            if bytes.byteCount - index > size, bytes[index + size] != TransportPacket.syncByte { break }
            body(bytes.extracting(index..<index + size))
            index += size
        }
        return index
    }

    /// Reads packets wherever they begin.
    ///
    /// - Returns: up to where the bytes are of no further use.
    private mutating func readUnaligned(_ bytes: RawSpan, _ body: (RawSpan) -> Void) -> Int {
        let size = TransportPacket.size
        var index = 0
        while index < bytes.byteCount {
            let left = bytes.byteCount - index
            let isFollowed = left <= size || bytes[index + size] == TransportPacket.syncByte
            guard bytes[index] == TransportPacket.syncByte, isFollowed else {
                if isAligned { gaps &+= 1 }
                isAligned = false
                index += 1
                continue
            }
            if left < size || left == size && !isAligned { break }
            isAligned = true
            body(bytes.extracting(index..<index + size))
            index += size
        }
        return index
    }
}

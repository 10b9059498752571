/// VP8, VP9 and MPEG-4 Visual.
extension FrameDepacketizer {
    /// RFC 7741, section 4.2.
    mutating func addVP8(_ payload: RawSpan, isFirst: Bool, _ builder: inout AccessUnitBuilder) -> Bool {
        let first = payload[0]
        var index = 1
        if first & 0x80 != 0 {
            guard index < payload.byteCount else { return false }
            let flags = payload[index]
            index += 1
            if flags & 0x80 != 0 {
                guard index < payload.byteCount else { return false }
                index += payload[index] & 0x80 != 0 ? 2 : 1
            }
            if flags & 0x40 != 0 { index += 1 }
            if flags & 0x30 != 0 { index += 1 }
        }
        guard index < payload.byteCount else { return false }
        frame.isReference = first & 0x20 == 0
        if isFirst {
            if first & 0x17 == 0x10 {
                // The inverse key frame flag: RFC 6386, section 9.1.
                frame.isKey = payload[index] & 1 == 0
                frame.hasPicture = true
            } else {
                noteMissingStart()
            }
        }
        builder.append(payload.extracting(index..<payload.byteCount))
        return true
    }

    /// RFC 9628, section 4.2.
    mutating func addVP9(_ payload: RawSpan, isFirst: Bool, _ builder: inout AccessUnitBuilder) -> Bool {
        let flags = payload[0]
        guard let index = Self.vp9DescriptorSize(payload), index < payload.byteCount else { return false }
        let isStart = flags & 0x08 != 0
        if isStart {
            frame.layerStart = builder.count
            if isFirst {
                frame.hasPicture = true
                frame.isKey = Self.isKeyVP9(payload[index])
            }
        } else if isFirst {
            noteMissingStart()
        }
        builder.append(payload.extracting(index..<payload.byteCount))
        // E ends a layer's frame.
        if flags & 0x04 != 0, frame.layers.count < 8 { frame.layers.append(builder.count - frame.layerStart) }
        return true
    }

    /// Whether a frame is a key frame by its first byte: VP9 bitstream specification, section 6.2. The bit P of the
    /// descriptor is not used, since some senders never set it.
    private static func isKeyVP9(_ byte: UInt8) -> Bool {
        // frame_marker of two bits, profile of two, one more if it is 3, show_existing_frame, frame_type.
        guard byte >> 6 == 2 else { return false }
        let isReserved = byte & 0x30 == 0x30
        return byte & (isReserved ? 0x06 : 0x0C) == 0
    }

    /// Sections 4.2 and 4.2.1.
    private static func vp9DescriptorSize(_ payload: RawSpan) -> Int? {
        let flags = payload[0]
        let (hasLayers, isFlexible) = (flags & 0x20 != 0, flags & 0x10 != 0)
        var index = 1
        if flags & 0x80 != 0 {
            guard index < payload.byteCount else { return nil }
            index += payload[index] & 0x80 != 0 ? 2 : 1
        }
        if hasLayers { index += isFlexible ? 1 : 2 }
        if isFlexible, flags & 0x40 != 0 {
            var count = 0
            while true {
                guard index < payload.byteCount, count < 3 else { return nil }
                count += 1
                index += 1
                if payload[index - 1] & 1 == 0 { break }
            }
        }
        guard flags & 0x02 != 0 else { return index }
        guard index < payload.byteCount else { return nil }
        let structure = payload[index]
        index += 1
        if structure & 0x10 != 0 { index += (Int(structure >> 5) + 1) * 4 }
        guard structure & 0x08 != 0 else { return index }
        guard index < payload.byteCount else { return nil }
        let pictures = payload[index]
        index += 1
        for _ in 0..<pictures {
            guard index < payload.byteCount else { return nil }
            index += 1 + Int(payload[index] >> 2 & 3)
        }
        return index
    }

    /// Writes the index from which a decoder finds the layers' frames: VP9 bitstream specification, annex B.
    func appendIndex(_ layers: [Int], _ builder: inout AccessUnitBuilder) {
        let marker = 0xD8 | UInt8(layers.count - 1)
        var index = [marker]
        for size in layers { for shift in [0, 8, 16, 24] { index.append(UInt8(truncatingIfNeeded: size >> shift)) } }
        builder.append(index + [marker])
    }

    /// RFC 6416, section 5.1: the bytes of the stream, cut anywhere.
    mutating func addMPEG4(_ payload: RawSpan, isFirst: Bool, _ builder: inout AccessUnitBuilder) -> Bool {
        if isFirst, payload.startCode(from: 0) != 0 { noteMissingStart() }
        // Only the headers before the slices of a picture are needed, and they come first.
        if !frame.hasPicture {
            for index in 0..<payload.byteCount {
                // ISO 14496-2, section 6.2.1: B6 is a picture, whose first two bits are its type; 20 to 2F a layer.
                if frame.recent == 0x0000_01B6 {
                    let type = payload[index] >> 6
                    frame.hasPicture = true
                    frame.isKey = type == 0
                    frame.isReference = type != 2
                    break
                }
                frame.recent = frame.recent << 8 | UInt32(payload[index])
                if frame.recent & 0xFFFF_FFF0 == 0x0000_0120 { frame.hasSequenceHeader = true }
            }
        }
        builder.append(payload)
        return true
    }
}

/// AV1: AOMedia's "RTP Payload Format For AV1", version 1.0, section 4.
extension FrameDepacketizer {
    mutating func addAV1(_ payload: RawSpan, isFirst: Bool, _ builder: inout AccessUnitBuilder) -> Bool {
        let header = payload[0]
        let (continues, isContinued) = (header & 0x80 != 0, header & 0x40 != 0)
        let count = Int(header >> 4 & 3)
        // A temporal unit begins with a delimiter, which packets leave out: AV1 specification, section 7.5.
        if isFirst { builder.append([0x12, 0x00]) }
        if !continues, frame.openSize != nil || frame.isSkipping {
            frame.openSize = nil
            frame.isSkipping = false
            frame.isDamaged = true
        }
        if continues, frame.openSize == nil, !frame.isSkipping { noteMissingStart() }
        var index = 1
        var element = 0
        while index < payload.byteCount {
            element += 1
            var size = payload.byteCount - index
            if count == 0 || element < count {
                guard let (stated, length) = Self.leb128(payload, at: index),
                    stated <= payload.byteCount - index - length
                else { return false }
                index += length
                size = stated
            }
            let bytes = payload.extracting(index..<index + size)
            index += size
            let isLast = index >= payload.byteCount
            guard addElement(bytes, continues: continues && element == 1, isContinued: isContinued && isLast, &builder)
            else { return false }
            if count > 0, element == count { return isLast }
        }
        return element >= count
    }

    /// Reads a number of at most 32 bits: AV1 specification, section 4.10.5.
    private static func leb128(_ bytes: RawSpan, at start: Int) -> (value: Int, size: Int)? {
        var value = 0
        for index in 0..<8 {
            guard start + index < bytes.byteCount else { return nil }
            let byte = bytes[start + index]
            value |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return value <= Int(UInt32.max) ? (value, index + 1) : nil }
        }
        return nil
    }

    private mutating func addElement(
        _ bytes: RawSpan, continues: Bool, isContinued: Bool, _ builder: inout AccessUnitBuilder
    ) -> Bool {
        if continues {
            if frame.openSize != nil { builder.append(bytes) }
            if !isContinued { closeOBU(&builder) }
            return true
        }
        guard bytes.byteCount > 0 else { return !isContinued }
        let header = bytes[0]
        let type = header >> 3 & 0xF
        var start = header & 0x04 != 0 ? 2 : 1
        // Delimiters and tile lists are not sent: section 4.5.
        guard type != 2, type != 8 else {
            frame.isSkipping = isContinued
            return true
        }
        guard start <= bytes.byteCount else { return false }
        let extensionByte = start == 2 ? bytes[1] : 0
        if header & 0x02 != 0 {
            guard let (size, length) = Self.leb128(bytes, at: start) else { return false }
            start += length
            guard isContinued || size == bytes.byteCount - start else { return false }
        }
        noteOBU(type, start < bytes.byteCount ? bytes[start] : nil)
        builder.append(header | 0x02)
        if header & 0x04 != 0 { builder.append(extensionByte) }
        if isContinued {
            // The size is known at the end only. Four bytes may hold a smaller number too: section 4.10.5.
            frame.openSize = builder.end
            for _ in 0..<4 { builder.append(0) }
        } else {
            var size = bytes.byteCount - start
            while size > 0x7F {
                builder.append(UInt8(size & 0x7F) | 0x80)
                size >>= 7
            }
            builder.append(UInt8(size))
        }
        builder.append(bytes.extracting(start..<bytes.byteCount))
        return true
    }

    private mutating func closeOBU(_ builder: inout AccessUnitBuilder) {
        frame.isSkipping = false
        guard let place = frame.openSize else { return }
        frame.openSize = nil
        let size = builder.end - place - 4
        guard size >= 0, size < 1 << 28 else {
            frame.isDamaged = true
            return
        }
        for index in 0..<4 {
            let bits = UInt8(size >> (7 * index) & 0x7F)
            builder.replace(at: place + index, with: index < 3 ? bits | 0x80 : bits)
        }
    }

    /// AV1 specification, sections 5.3.1 and 5.9.2: type 1 is a sequence header, 3 a frame header and 6 a frame, whose
    /// first bits are show_existing_frame and frame_type, of which 0 is a key frame.
    private mutating func noteOBU(_ type: UInt8, _ first: UInt8?) {
        if type == 1 { frame.hasSequenceHeader = true }
        guard type == 3 || type == 6 else { return }
        if !frame.hasPicture, let first { frame.isKey = first & 0xE0 == 0 }
        frame.hasPicture = true
    }
}

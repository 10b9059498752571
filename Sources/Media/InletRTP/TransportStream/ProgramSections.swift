/// The programs of a transport stream: the program association table (ISO/IEC 13818-1, section 2.4.4.3).
struct ProgramList: Equatable {
    struct Program: Equatable {
        var number: Int
        /// The packet identifier of the program's map.
        var mapPID: Int
    }

    var programs: [Program] = []

    /// Reads a section whose check is right.
    ///
    /// - Returns: nil if it is another table, or not valid yet.
    init?(_ section: RawSpan) {
        guard section.byteCount >= 12, section[0] == 0, section[5] & 1 == 1 else { return nil }
        for place in stride(from: 8, to: section.byteCount - 7, by: 4) {
            let number = Int(section.bigEndian16(at: place))
            // Number 0 is the network's information.
            guard number != 0 else { continue }
            programs.append(Program(number: number, mapPID: Int(section.bigEndian16(at: place + 2) & 0x1FFF)))
        }
    }
}

/// The streams of a program: the program map table (ISO/IEC 13818-1, section 2.4.4.8).
struct ProgramMap: Equatable {
    struct Stream: Equatable {
        /// Table 2-34.
        var type: UInt8
        var pid: Int
    }

    var program: Int
    /// The packet identifier of the packets with the program's clock.
    var clockPID: Int
    var streams: [Stream] = []

    /// Reads a section whose check is right.
    ///
    /// - Returns: nil if it is another table, not valid yet, or inconsistent.
    init?(_ section: RawSpan) {
        guard section.byteCount >= 16, section[0] == 2, section[5] & 1 == 1 else { return nil }
        program = Int(section.bigEndian16(at: 3))
        clockPID = Int(section.bigEndian16(at: 8) & 0x1FFF)
        let end = section.byteCount - 4
        var place = 12 + Int(section.bigEndian16(at: 10) & 0x0FFF)
        while place + 5 <= end {
            let size = 5 + Int(section.bigEndian16(at: place + 3) & 0x0FFF)
            guard size <= end - place else { return nil }
            streams.append(
                Stream(type: section[place], pid: Int(section.bigEndian16(at: place + 1) & 0x1FFF)))
            place += size
        }
    }
}

import InletCore

/// Follows the tables of a transport stream to its video.
struct ProgramTables {
    /// The video that is read.
    struct Video: Equatable {
        var pid: Int
        /// The packet identifier of the packets with the program's clock.
        var clockPID: Int
        /// ISO/IEC 13818-1, table 2-34.
        var type: UInt8
        var codec: VideoCodec
    }

    /// The video of the program that was chosen; nil before.
    private(set) var video: Video?
    /// The types of the streams of the last program that has no video that can be read.
    private(set) var types: [UInt8] = []
    private var list: ProgramList?
    private var lists = SectionReader(pid: 0)
    /// The readers of programs' maps.
    private var maps: [SectionReader] = []
    /// The program that was chosen.
    private var program: Int?

    /// Lists may name hundreds of programs, of which most servers send one.
    private static let mostMaps = 64

    /// Whether a packet identifier is one of a table.
    func reads(_ pid: Int) -> Bool {
        if pid == 0 { return true }
        guard let list else { return false }
        return list.programs.contains { $0.mapPID == pid && (program == nil || program == $0.number) }
    }

    /// Forgets sections of which only a part has come.
    mutating func reset() {
        lists.reset()
        for index in maps.indices { maps[index].reset() }
    }

    /// Reads a packet of a table.
    ///
    /// - Returns: how many sections were wrong.
    mutating func read(_ packet: TransportPacket, _ payload: RawSpan) -> Int {
        guard packet.pid != 0 else { return readList(packet, payload) }
        let place: Int
        if let known = maps.firstIndex(where: { $0.pid == packet.pid }) {
            place = known
        } else {
            guard maps.count < Self.mostMaps else { return 0 }
            place = maps.count
            maps.append(SectionReader(pid: packet.pid))
        }
        // Otherwise the reader would be changed while this is.
        var (reader, found) = (SectionReader(pid: packet.pid), nil as ProgramMap?)
        swap(&reader, &maps[place])
        let wanted = program
        let wrong = reader.read(packet, payload) { section in
            // Maps of several programs may have one packet identifier.
            guard let map = ProgramMap(section), wanted == nil || map.program == wanted else { return }
            found = map
        }
        swap(&reader, &maps[place])
        if let found { take(found) }
        return wrong
    }

    private mutating func readList(_ packet: TransportPacket, _ payload: RawSpan) -> Int {
        var (reader, found) = (SectionReader(pid: 0), nil as ProgramList?)
        swap(&reader, &lists)
        let wrong = reader.read(packet, payload) { section in found = ProgramList(section) ?? found }
        swap(&reader, &lists)
        // A list of several sections is rare: more than 250 programs.
        guard let found, found != list else { return wrong }
        let pids = Set(found.programs.map(\.mapPID))
        maps.removeAll { !pids.contains($0.pid) }
        list = found
        // If a program is gone, the search starts again and also accepts another number.
        if let program, !found.programs.contains(where: { $0.number == program }) { self.program = nil }
        return wrong
    }

    private mutating func take(_ map: ProgramMap) {
        let found = map.streams.lazy.compactMap { stream in
            Self.codec(ofType: stream.type).map {
                Video(pid: stream.pid, clockPID: map.clockPID, type: stream.type, codec: $0)
            }
        }.first
        guard let found else {
            types = map.streams.map(\.type)
            return
        }
        (video, program) = (found, map.program)
    }

    /// Table 2-34.
    private static func codec(ofType type: UInt8) -> VideoCodec? {
        switch type {
        case 0x01: VideoCodec(rawValue: "mpeg1video")
        case 0x02: VideoCodec(rawValue: "mpeg2video")
        case 0x10: VideoCodec(rawValue: "mpeg4")
        case 0x1B: .h264
        case 0x24: .hevc
        default: nil
        }
    }
}

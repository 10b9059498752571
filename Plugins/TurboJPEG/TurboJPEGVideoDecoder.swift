import InletCore

// Unsafe: decodes into the memory of a pooled picture.
/// A ``VideoDecoder`` for Motion JPEG with libjpeg-turbo, which decodes into pooled planes.
///
/// After a JPEG of an unsupported kind, the next decoder takes over with the next picture.
@safe final class TurboJPEGVideoDecoder: VideoDecoder {
    private let library: TurboJPEGLibrary
    private let pool = JPEGPicturePool()
    private var parameters: CodecParameters?
    private var settings = DecoderSettings()
    private var picture: SourceFrame?
    private var isDraining = false
    /// The number of consecutive damaged pictures.
    private var damagedCount = 0
    /// Whether a picture was complete.
    private var hasDecoded = false

    var skipsNonReferencePictures = false
    var reorderDepth: Int { 0 }

    /// The maximum number of consecutive damaged pictures. A stream without a complete picture may be one that only
    /// libjpeg-turbo rejects.
    private static let mostDamaged = 8
    /// The maximum number of pixels of a picture that is progressive or has a scan for each component.
    private static let mostPixelsInScans = 1 << 22
    /// The maximum padding in bytes. Webcams insert a few bytes between the data and the end of the image, and
    /// libjpeg-turbo warns about them.
    private static let mostPadding = 8
    /// The containers' codes for JPEGs that all decoders read alike. Other codes mark vendors' variants.
    private static let plainTags: Set<UInt32> = Set(
        ["MJPG", "mjpg", "jpeg", "JPEG", "mp4v"].map { $0.utf8.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
    ).union([0])

    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    init() throws(InletError) { library = try TurboJPEGLibrary() }

    func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {
        guard parameters.codec == .mjpeg, parameters.extraData.isEmpty, Self.plainTags.contains(parameters.codecTag)
        else {
            throw InletError(.unsupported, "libjpeg-turbo decodes only plain Motion JPEG. This is a variant of it.")
        }
        self.parameters = parameters
        self.settings = settings
    }

    func send(_ packet: SourcePacket) throws -> PacketFault? {
        guard let parameters else { return .malformed }
        picture = nil
        switch JPEGDescription.read(packet.data.bytes) {
        case .malformed: return try noteDamage("the header of the JPEG is incomplete")
        case .foreign(let kind): return try noteForeign(kind)
        case .picture(let description):
            let size = description.size
            guard size.fits(in: settings.maximumSize) else { return .tooLarge }
            // libavcodec treats a picture that is this much lower than its container states as one of two fields.
            let stated = packet.parameters.size
            if stated.isValid, 4 * size.height < 3 * stated.height { return try noteForeign("one field of two") }
            // The library keeps all coefficients, and each scan costs as much as a picture.
            guard description.isBaseline || size.pixelCount <= Self.mostPixelsInScans else {
                return try noteForeign("\(size) in several scans")
            }
            return try decode(packet, description, parameters)
        }
    }

    /// - Throws: an error if the first picture is unsupported, or if this many in a row are. A single one may only
    ///   have a wrong bit in its header.
    private func noteForeign(_ kind: String) throws(InletError) -> PacketFault? {
        damagedCount += 1
        guard hasDecoded, damagedCount < Self.mostDamaged else {
            throw InletError(.unsupported, "libjpeg-turbo is not used for this kind of JPEG: \(kind).")
        }
        return .malformed
    }

    private func decode(
        _ packet: SourcePacket, _ description: JPEGDescription, _ parameters: CodecParameters
    ) throws(InletError) -> PacketFault? {
        let (bytes, size) = (packet.data.bytes, description.size)
        guard let layout = library.layout(of: bytes, size: size) else {
            return try noteForeign("unknown sampling or colours")
        }
        let lease = pool.take(byteCount: layout.byteCount)
        var result = unsafe library.decode(
            bytes, size: size, into: lease.picture.memory, layout, stopsAtDamage: !settings.showsDamaged)
        // With restart markers, the same message means missing data.
        if case .damaged(let text) = result, description.isBaseline, !description.hasRestarts, Self.isPadding(text) {
            result = .whole
        }
        var flags: FrameFlags = .key
        switch result {
        case .whole: (damagedCount, hasDecoded) = (0, true)
        case .damaged where settings.showsDamaged: flags.insert(.corrupt)
        case .damaged(let text), .failed(let text): return try noteDamage(text)
        }
        var planes = SourcePlanes()
        let memory = unsafe UnsafeRawBufferPointer(lease.picture.memory)
        for plane in layout.planes {
            let bottom = plane.offset + (plane.rows - 1) * plane.stride
            unsafe planes.append(
                parameters.isMirrored
                    ? SourcePlane(memory, offset: bottom, stride: -plane.stride)
                    : SourcePlane(memory, offset: plane.offset, stride: plane.stride))
        }
        picture = SourceFrame(
            pixelFormat: layout.pixelFormat, size: size, planes: planes, owner: lease, pts: packet.pts ?? packet.dts,
            duration: packet.duration, sequence: 0, colorSpace: Self.colorSpace(parameters.colorSpace),
            rotation: parameters.rotation, flags: flags,
            sampleAspectRatio: parameters.hasContainerAspectRatio
                ? parameters.sampleAspectRatio : description.sampleAspectRatio ?? parameters.sampleAspectRatio)
        return nil
    }

    /// JFIF 1.02: full range, and the matrix of ITU-R BT.601 for 625 lines. The container states the rest.
    private static func colorSpace(_ stated: ColorSpace) -> ColorSpace {
        var colorSpace = stated
        (colorSpace.matrix, colorSpace.range) = (.bt470bg, .full)
        return colorSpace
    }

    /// Whether libjpeg-turbo warned only about a few bytes between the data and the end of the image
    /// (JWRN_EXTRANEOUS_DATA in `jerror.h`), after which nothing can be wrong.
    private static func isPadding(_ text: String) -> Bool {
        let (start, end) = ("Corrupt JPEG data: ", " extraneous bytes before marker 0xd9")
        guard text.hasBytePrefix(start), text.hasByteSuffix(end), text.utf8.count > start.utf8.count + end.utf8.count
        else { return false }
        let digits = text.utf8.dropFirst(start.utf8.count).dropLast(end.utf8.count)
        return Int(String(Substring(digits))).map { $0 <= mostPadding } ?? false
    }

    /// - Throws: an error if so many pictures were damaged that another decoder should be tried.
    private func noteDamage(_ text: String) throws(InletError) -> PacketFault? {
        damagedCount += 1
        guard damagedCount < Self.mostDamaged else {
            throw InletError(
                .malformedData,
                "libjpeg-turbo reports damage in the last \(damagedCount) JPEGs: \(text.sanitized()).")
        }
        return .malformed
    }

    func receive() throws -> DecoderOutput {
        if let picture {
            self.picture = nil
            return .picture(picture)
        }
        return isDraining ? .ended : .needsPacket
    }

    func drain() { isDraining = true }

    func reset() {
        isDraining = false
        picture = nil
    }
}

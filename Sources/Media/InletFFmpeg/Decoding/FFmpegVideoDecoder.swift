import CFFmpeg
package import InletCore

// Unsafe: owns the parameters with which a libavcodec decoder is opened.
/// A ``VideoDecoder`` with libavcodec's software decoders.
///
/// Packets that libavformat read are passed with their side data; others are lent to libavcodec without a copy.
@safe package final class FFmpegVideoDecoder: VideoDecoder {
    private var decoder: FFmpegDecoder?
    private let packet: FFmpegPacket
    /// The stream's orientation as of the last packet, for pictures that do not state one.
    private var orientation = DisplayOrientation(rotation: .none, isMirrored: false)
    private var sampleAspectRatio: Rational?
    private var hasContainerAspectRatio = false
    private var timeBase = Rational(1)
    /// The parameters and settings of a stream of JPEGs whose size was not known in advance; nil for others.
    private var unsized: (parameters: CodecParameters, settings: DecoderSettings)?
    /// The order of the fields for which the decoder was opened, and the size of their frame; nil for whole pictures.
    private var fields: (order: FieldOrder, size: ImageSize)?

    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package init() throws(InletError) { packet = try FFmpegPacket() }

    package func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {
        FFmpegLogging.install()
        unsized = parameters.codec == .mjpeg && !parameters.size.isValid ? (parameters, settings) : nil
        fields = nil
        try reopen(parameters, settings)
    }

    private func reopen(_ parameters: CodecParameters, _ settings: DecoderSettings) throws(InletError) {
        var native = unsafe avcodec_parameters_alloc()
        defer { unsafe avcodec_parameters_free(&native) }
        guard let native = unsafe native else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_parameters_alloc")
        }
        try unsafe parameters.write(to: native)
        // QuickTime File Format: "bottom field first" for JPEGs.
        if fields?.order == .bottomFirst { unsafe native.pointee.field_order = AV_FIELD_BB }
        unsafe native.pointee.codec_tag = parameters.codecTag
        unsafe native.pointee.bits_per_coded_sample = Int32(clamping: parameters.bitsPerCodedSample)
        unsafe native.pointee.video_delay = Int32(clamping: parameters.reorderDepth)
        var options = FFmpegDecoder.Options()
        options.threads = settings.threads
        options.isLowDelay = settings.isLowDelay
        options.showsDamaged = settings.showsDamaged
        options.maximumPixels = settings.maximumSize.decodedPixelCount
        decoder = unsafe try FFmpegDecoder(native, timeBase: AVRational(parameters.timeBase), options: options)
        orientation = parameters.orientation
        sampleAspectRatio = parameters.sampleAspectRatio
        hasContainerAspectRatio = parameters.hasContainerAspectRatio
        timeBase = parameters.timeBase
    }

    /// Opens the decoder again if the packet has two fields and the last one had not, the reverse, or their size has
    /// changed: libavcodec joins fields if it knows the height of the frame when it is opened.
    private func follow(_ packet: SourcePacket) throws(InletError) {
        guard let unsized else { return }
        let (order, size) = unsafe packet.data.bytes.withUnsafeBytes { memory in
            let order = unsafe JPEGHeader.fieldOrder(in: memory.bytes)
            return unsafe (order, order == .progressive ? nil : JPEGHeader.size(in: memory.bytes))
        }
        guard order != fields?.order ?? .progressive || size != fields?.size else { return }
        fields = size.map { (order, $0) }
        var parameters = unsized.parameters
        if let size { parameters.size = size }
        try reopen(parameters, unsized.settings)
    }

    package var reorderDepth: Int { decoder?.reorderDepth ?? 0 }

    package var skipsNonReferencePictures: Bool {
        get { decoder?.skipsNonReferencePictures ?? false }
        set { decoder?.skipsNonReferencePictures = newValue }
    }

    package func send(_ packet: SourcePacket) throws -> PacketFault? {
        try follow(packet)
        guard let decoder else { return .malformed }
        orientation = packet.parameters.orientation
        defer { self.packet.unref() }
        try self.packet.fill(sharing: packet.data)
        if packet.isKey { self.packet.markKey() }
        self.packet.pts = packet.pts?.ticks
        self.packet.dts = packet.dts?.ticks
        self.packet.duration = packet.duration?.ticks ?? 0
        return decoder.send(self.packet) < 0 ? fault() : nil
    }

    /// Returns why a packet could not be decoded, as libavcodec has just reported on this thread.
    private func fault() -> PacketFault { FFmpegLogging.takeFacts().isOversized ? .tooLarge : .malformed }

    package func receive() throws -> DecoderOutput {
        guard let decoder else { return .needsPacket }
        switch try decoder.receive() {
        case .needsInput: return .needsPacket
        case .ended: return .ended
        case .undecodable: return .undecodable(fault())
        case .frame(let frame):
            guard let pixelFormat = PixelFormat(frame.nativePixelFormat) else {
                return .undecodable(.unknownPixelFormat)
            }
            let orientation = frame.orientation ?? orientation
            var flags: FrameFlags = frame.isKey ? .key : []
            if frame.isDamaged { flags.insert(.corrupt) }
            var picture = SourceFrame(
                pixelFormat: pixelFormat, size: frame.size, planes: frame.planes(flipped: orientation.isMirrored),
                owner: frame, pts: frame.bestEffortTimestamp.map { MediaTime(ticks: $0, timeBase: timeBase) },
                duration: frame.duration.map { MediaTime(ticks: $0, timeBase: timeBase) }, sequence: 0,
                colorSpace: frame.colorSpace, rotation: orientation.rotation, flags: flags,
                sampleAspectRatio: hasContainerAspectRatio
                    ? sampleAspectRatio : frame.sampleAspectRatio ?? sampleAspectRatio)
            let isFlipped = orientation.isMirrored && frame.size.height.isMultiple(of: 2)
            // libavcodec states the order of two JPEGs with the first picture only.
            let fieldOrder = fields?.order ?? frame.fieldOrder
            picture.fieldOrder = isFlipped ? fieldOrder.flipped : fieldOrder
            return .picture(picture)
        }
    }

    package func drain() { decoder?.sendEnd() }

    package func reset() { decoder?.flush() }
}

extension DecoderPlugin {
    /// The plug-in for libavcodec's software decoders, whatever it was built with.
    package static let libavcodec = DecoderPlugin("ffmpeg", summary: "libavcodec's software decoders.") {
        try FFmpegVideoDecoder()
    }
}

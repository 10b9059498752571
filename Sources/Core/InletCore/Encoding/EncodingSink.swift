/// A frame sink that encodes: frames in, packets to one packet sink, on the sink's own thread.
///
/// While the packet sink blocks, frames are queued or dropped by the queue policy, before they cost any work. If some
/// outputs may be slow and others must not wait for them, use a fan-out as the packet sink.
///
/// A change of size, colour, rotation or shape reopens the encoder, and the packet sink is started again.
public final class EncodingSink: FrameSink {
    /// The properties that frames should have.
    public let wants: SinkWants
    private let encoder: any VideoEncoder
    private let settings: EncoderSettings
    private let output: any PacketSink
    private let control: EncoderControl?
    private var format: VideoFormat?
    /// Whether the output's key-frame request was passed on, and its packet has not been output yet.
    private var isKeyOnItsWay = false

    /// - Parameters:
    ///   - encoder: a new one, which is not open.
    ///   - settings: the settings with which the encoder is opened.
    ///   - output: receives the packets.
    ///   - wants: what frames should be like. The default leaves them as they arrive.
    ///   - control: changes the encoder while it runs. The default is nil.
    public init(
        _ encoder: any VideoEncoder, _ settings: EncoderSettings, to output: any PacketSink,
        wants: SinkWants = SinkWants(), control: EncoderControl? = nil
    ) {
        self.encoder = encoder
        self.settings = settings
        self.output = output
        self.wants = wants
        self.control = control
    }

    /// Opens the encoder and starts the packet sink.
    public func start(_ format: VideoFormat, _ context: SinkContext) throws { try open(format) }

    private func open(_ format: VideoFormat) throws {
        try output.start(encoder.open(format, settings))
        self.format = format
        isKeyOnItsWay = true
    }

    /// Encodes a frame and hands on the packets that are ready.
    public func consume(_ frame: VideoFrame) throws {
        if var format, !format.describes(frame) {
            try write(encoder.flush())
            format.size = frame.size
            format.colorSpace = frame.colorSpace
            format.rotation = frame.rotation
            format.sampleAspectRatio = frame.sampleAspectRatio
            try open(format)
        }
        let asks = follow(control) || output.wantsKeyFrame && !isKeyOnItsWay
        if asks { isKeyOnItsWay = true }
        try write(encoder.encode(frame, wantsKeyFrame: asks))
    }

    /// - Returns: whether a key frame was requested.
    private func follow(_ control: EncoderControl?) -> Bool {
        guard let control, let requests = control.take() else { return false }
        if requests.bitrate != nil || requests.frameRate != nil {
            do {
                try encoder.change(bitrate: requests.bitrate, frameRate: requests.frameRate)
                control.note(nil)
            } catch {
                control.note(InletError(wrapping: error, operation: "The encoder"))
            }
        }
        return requests.wantsKeyFrame
    }

    private func write(_ packets: [EncodedPacket]) throws {
        for packet in packets {
            if packet.isKey { isKeyOnItsWay = false }
            // The output's key-frame request is seen before the next picture.
            do { try output.write(packet) } catch is KeyFrameNeeded {}
        }
    }

    /// Writes the packets that the encoder holds back, and finishes the packet sink.
    public func finish() throws {
        do {
            try write(encoder.flush())
        } catch {
            try? output.finish()
            throw error
        }
        try output.finish()
    }
}

extension VideoFormat {
    /// Whether a frame can go into the same stream.
    fileprivate func describes(_ frame: VideoFrame) -> Bool {
        size == frame.size && colorSpace == frame.colorSpace && rotation == frame.rotation
            && sampleAspectRatio == frame.sampleAspectRatio
    }
}

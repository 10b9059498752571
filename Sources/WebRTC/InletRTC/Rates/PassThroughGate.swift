package import InletCore

/// Determines whether a source's packets can go to viewers unchanged, by inspecting them. Holds no clock.
///
/// The packets must be H.264 with start codes, of a profile that browsers support, in display order, upright, with
/// square pixels, and within the viewers' limits of size and bit rate. Key frames must be frequent enough for viewers
/// that join or have lost packets, because cameras are not asked for key frames.
package struct PassThroughGate: Sendable {
    /// The limits of the pictures for viewers.
    package struct Limits: Sendable, Hashable {
        /// The largest pictures.
        package var largestSize: ImageSize
        /// The highest bit rate, in bits a second.
        package var bitrate: Int
        /// The longest interval between key frames. The default is 2 seconds.
        package var keyFrameInterval = Duration.seconds(2)

        package init(largestSize: ImageSize, bitrate: Int) {
            self.largestSize = largestSize
            self.bitrate = bitrate
        }
    }

    /// The reason why packets cannot go to viewers unchanged.
    package enum Obstacle: String, Sendable, Hashable, CaseIterable {
        case unknown = "too little was seen of it"
        case codec = "it is not H.264 with start codes"
        case profile = "its profile is not one of baseline, main and high"
        case reordering = "it has B-frames"
        case size = "its pictures are larger than viewers are sent"
        case rotation = "its pictures are to be turned"
        case pixelShape = "its pixels are not square"
        case rareKeyFrames = "its key frames are too far from each other"
        case bitrate = "it has more bits a second than viewers are sent"
    }

    /// The stream that goes to viewers.
    package struct Stream: Sendable, Hashable {
        /// The profile that a viewer must decode.
        package var profile: H264Profile
        /// The bit rate in bits a second, as measured between key frames.
        package var bitrate: Int
    }

    /// The stream that can go to viewers now, or the reason why none can.
    package private(set) var outcome: Result<Stream, Refusal> = .failure(Refusal(.unknown))

    /// The obstacle as an error.
    package struct Refusal: Error, Hashable {
        /// The reason why packets cannot go unchanged.
        package let obstacle: Obstacle
        init(_ obstacle: Obstacle) { self.obstacle = obstacle }
    }

    private let limits: Limits
    private var fault: Obstacle?
    private var profile: H264Profile?
    private var groupStart: MonotonicTime?
    private var groupBytes = 0
    private var lastTime: MonotonicTime?

    package init(_ limits: Limits) { self.limits = limits }

    /// Starts over with packets of another kind.
    package mutating func start(_ parameters: CodecParameters) {
        (fault, groupStart, groupBytes, lastTime) = (nil, nil, 0, nil)
        profile = H264Profile(parameters.extraData)
        outcome = .failure(Refusal(.unknown))
        // An avcC record begins with its version, 1.
        if parameters.codec != .h264 || parameters.extraData.first == 1 {
            refuse(.codec)
        } else if parameters.rotation != .none || parameters.isMirrored {
            refuse(.rotation)
        } else if parameters.size.width > limits.largestSize.width || parameters.size.height > limits.largestSize.height
        {
            refuse(.size)
        } else if Self.isStretched(parameters) {
            refuse(.pixelShape)
        } else if let profile, profile.takers.isEmpty {
            refuse(.profile)
        }
    }

    /// Whether the pixels are not square. Viewers show every pixel as a square.
    private static func isStretched(_ parameters: CodecParameters) -> Bool {
        if let ratio = parameters.sampleAspectRatio, ratio != Rational(1) || parameters.hasContainerAspectRatio {
            return ratio != Rational(1)
        }
        return H264PixelShape.isStretched(parameters.extraData)
    }

    /// Inspects a packet. The result is known with the second key frame.
    package mutating func add(_ packet: EncodedPacket) {
        if packet.pts != packet.dts { refuse(.reordering) }
        guard fault == nil else { return }
        if packet.isKey {
            if profile == nil { look(at: packet) }
            if let groupStart { endGroup(from: groupStart, to: packet.captureTime) }
            (groupStart, groupBytes) = (packet.captureTime, 0)
        } else if let groupStart, packet.captureTime - groupStart > limits.keyFrameInterval {
            // This group is longer than allowed; the next one will show whether it is, too.
            outcome = .failure(Refusal(.rareKeyFrames))
        }
        groupBytes += packet.data.count
    }

    /// Searches for parameter sets that were not announced, which precede the first key frame.
    private mutating func look(at packet: EncodedPacket) {
        let bytes = packet.data.bytes
        var head: [UInt8] = []
        for index in 0..<min(bytes.count, 512) { head.append(bytes[index]) }
        guard let found = H264Profile(head) else { return refuse(.profile) }
        profile = found
        if found.takers.isEmpty { refuse(.profile) }
        if H264PixelShape.isStretched(head) { refuse(.pixelShape) }
    }

    private mutating func endGroup(from start: MonotonicTime, to end: MonotonicTime) {
        let length = end - start
        guard let profile, length > .zero else { return }
        guard length <= limits.keyFrameInterval else { return outcome = .failure(Refusal(.rareKeyFrames)) }
        let bitrate = Int(Double(groupBytes) * 8e9 / Double(length.wholeNanoseconds))
        // A rate close to the limit must not switch back and forth.
        let isIn = (try? outcome.get()) != nil
        guard Double(bitrate) <= Double(limits.bitrate) * (isIn ? 1.2 : 1) else {
            return outcome = .failure(Refusal(.bitrate))
        }
        outcome = .success(Stream(profile: profile, bitrate: bitrate))
    }

    private mutating func refuse(_ obstacle: Obstacle) {
        fault = fault ?? obstacle
        outcome = .failure(Refusal(fault ?? obstacle))
    }
}

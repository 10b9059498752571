public import InletCore
public import InletDecode
import InletFFmpeg
public import InletV4L2
import Synchronization

/// A camera, ready to be opened: `v4l2:/dev/video0?size=1280x720&fps=30`.
///
/// Once a capturer has had it open, the camera is known to it by its identity: when it is plugged in again, it is found
/// at whatever node it then has.
public struct V4L2Configuration: PacketSourceConfiguration {
    /// Which camera. The default is the first one.
    public var address: V4L2Address
    /// The size of the pictures. The default, nil, is the one near 1280x720 with the highest rate.
    public var size: ImageSize?
    /// Frames a second. The default, nil, is the highest at the size.
    public var frameRate: Rational?
    /// The pixel format. The default, nil, is the one that costs least to convert.
    public var format: FourCC?
    /// The input of a device with several, as the driver counts them. The default, nil, leaves it as it is.
    public var input: Int?
    /// How many buffers the driver is asked for, from 2 to 32. The default is 6.
    public var buffers = 6
    /// How many pictures may be held in copies, which are made only when the driver would run dry, from 0 to 1024. The
    /// default is 32. Beyond that frames are dropped.
    public var copies = 32
    /// How pictures are taken in. The default is ``InputMethod/automatic``.
    public var method = InputMethod.automatic
    /// What becomes of pictures that the driver says are damaged. The default is ``DamagePolicy/drop``.
    public var damage = DamagePolicy.drop
    /// Whether black is 16 or 0. The default, nil, is what the driver says; many webcams say it wrongly.
    public var range: ColorRange?
    /// How luma and chroma are made. The default, nil, is what the driver says.
    public var matrix: ColorMatrix?
    /// Controls to set at each opening, as `name=value` joined by commas. The default is none.
    public var controls = ""

    /// The longest time from a compressed picture's arrival to the picture: where decoding does not keep up, pictures
    /// are left out. The default is 150 ms; 0 is no limit.
    public var maximumLag = Duration.milliseconds(150)
    /// The decoders that may be used, where the camera compresses. The default is libavcodec's.
    public var decoders: [DecoderPlugin] = [.libavcodec]
    /// The name of the decoder that is tried first. The default, nil, is libjpeg-turbo's for Motion JPEG, where it is
    /// among ``decoders``, and otherwise the one with the greatest preference.
    public var decoder: String?

    /// How pictures get from the driver to the process.
    public enum InputMethod: String, Sendable, Hashable, ChoiceOptionValue {
        /// The first of the others that the driver has.
        case automatic = "auto"
        /// The driver's memory, mapped.
        case mapped = "mmap"
        /// Memory of the process, which the driver fills.
        case own = "userptr"
        /// A call that copies.
        case read
    }

    /// What becomes of a damaged picture.
    public enum DamagePolicy: String, Sendable, Hashable, ChoiceOptionValue {
        /// It is dropped and counted as ``DropReason/damaged``.
        case drop
        /// It is delivered with ``FrameFlags/corrupt``, where it is long enough.
        case deliver
    }

    /// What the sources of one capturer remember; nil outside one.
    private(set) var seen: SeenDevice?

    /// A camera with the defaults of every property.
    public init(_ address: V4L2Address = .first) { self.address = address }

    /// The source by its URI.
    public var redactedURI: String {
        switch address {
        case .first: "v4l2:"
        case .node(let node): "v4l2:\(node)"
        case .id(let text): "v4l2:?id=\(text)"
        case .path(let text): "v4l2:?path=\(text)"
        case .name(let text): "v4l2:?name=\(text)"
        case .identity(let identity): "v4l2:?path=\(identity.bus)"
        }
    }

    /// Returns a configuration whose sources remember which camera they had open.
    public func scopedToCapturer() -> any FrameSourceConfiguration {
        var scoped = self
        scoped.seen = SeenDevice()
        return scoped
    }

    /// How what a camera compresses becomes pictures.
    public var decoding: DecodingSettings {
        // It takes less time, and the pictures of a camera need not be those of the ffmpeg command to the bit.
        var settings = DecodingSettings(decoders, decoder: decoder ?? "turbojpeg")
        // The size is ours to choose: no picture is too large that the camera was asked for.
        let most = ImageSize.maximumDimension
        settings.limits.size = size ?? ImageSize(width: most, height: most)
        settings.damage = damage == .deliver ? .mark : .drop
        settings.maximumLag = maximumLag > .zero ? maximumLag : nil
        settings.colorRange = range
        settings.colorMatrix = matrix
        return settings
    }

    /// A source that captures from the camera. Opens nothing yet.
    public func makePacketSource() -> any FrameSource { V4L2Source(self) }

    /// Checks that the parts are in range.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public func validate() throws(InletError) {
        func fail(_ message: String) -> InletError {
            InletError(.invalidConfiguration, message, context: .init(subject: redactedURI))
        }
        guard Self.bufferCounts.contains(buffers) else { throw fail("A camera has 2 to 32 buffers, not \(buffers).") }
        guard Self.copyCounts.contains(copies) else { throw fail("A camera has 0 to 1024 copies, not \(copies).") }
        if let rate = frameRate, rate <= Rational(0) { throw fail("A rate is above zero, not \(rate).") }
    }

    static let bufferCounts = 2...32
    static let copyCounts = 0...1024
}

/// Which device a capturer's sources have had open.
final class SeenDevice: Sendable {
    private let stored = Mutex(V4L2Identity?.none)

    var identity: V4L2Identity? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

public import InletCore
public import InletDecode
import InletFFmpeg
public import InletV4L2
import Synchronization

/// A camera to capture from: `v4l2:/dev/video0?size=1280x720&fps=30`.
///
/// Once a capturer has opened the camera, it remembers the camera's identity: when the camera is plugged in again, it
/// is found at its new node.
public struct V4L2Configuration: PacketSourceConfiguration {
    /// The camera's address. The default is the first camera.
    public var address: V4L2Address
    /// The size of the pictures. The default, nil, is the size near 1280x720 with the highest rate.
    public var size: ImageSize?
    /// The frame rate. The default, nil, is the highest at the size.
    public var frameRate: Rational?
    /// The pixel format. The default, nil, is the one that is cheapest to convert.
    public var format: FourCC?
    /// The input of a device with several inputs, as the driver numbers them. The default, nil, keeps the current one.
    public var input: Int?
    /// The number of buffers requested from the driver, from 2 to 32. The default is 6.
    public var buffers = 6
    /// The number of pictures that may be held as copies, from 0 to 1024. Copies are made only when the driver would
    /// run out of buffers. The default is 32. Beyond that, frames are dropped.
    public var copies = 32
    /// The way in which pictures are transferred to the process. The default is ``InputMethod/automatic``.
    public var method = InputMethod.automatic
    /// The handling of pictures that the driver marks as damaged. The default is ``DamagePolicy/drop``.
    public var damage = DamagePolicy.drop
    /// The handling of pictures while the camera's shutter is closed. The default is ``ShutterPolicy/interrupt``.
    public var shutter = ShutterPolicy.interrupt
    /// The number of the control that reports the shutter. Tests use another one, because virtual cameras have no
    /// shutter.
    package var shutterControl = V4L2Control.privacyID
    /// The field order requested from the driver, as V4L2 numbers it. The default, 0, leaves it to the driver. Tests
    /// request others, because virtual cameras support all.
    package var field: UInt32 = 0
    /// The range of luma: black is 16 or 0. The default, nil, is the driver's value; many webcams report it wrongly.
    public var range: ColorRange?
    /// The matrix from RGB to luma and chroma. The default, nil, is the driver's value.
    public var matrix: ColorMatrix?
    /// Controls to set at each opening, as `name=value` joined by commas. Empty by default.
    public var controls = ""

    /// The longest time from a compressed picture's arrival to its decoded picture. If decoding does not keep up,
    /// pictures are dropped. The default is 250 ms; 0 means no limit.
    public var maximumLag = DecodingSettings.defaultMaximumLag
    /// The decoders that may be used if the camera compresses. The default is libavcodec's.
    public var decoders: [DecoderPlugin] = [.libavcodec]
    /// The name of the decoder to try first. The default, nil, is libjpeg-turbo's for Motion JPEG, if it is among
    /// ``decoders``, and otherwise the one with the highest preference.
    public var decoder: String?

    /// The way in which pictures are transferred from the driver to the process.
    public enum InputMethod: String, Sendable, Hashable, ChoiceOptionValue {
        /// The first of the other methods that the driver supports.
        case automatic = "auto"
        /// The driver's memory, mapped into the process.
        case mapped = "mmap"
        /// The process's memory, which the driver fills.
        case own = "userptr"
        /// The `read` call, which copies.
        case read
    }

    /// The handling of a damaged picture.
    public enum DamagePolicy: String, Sendable, Hashable, ChoiceOptionValue {
        /// The picture is dropped and counted as ``DropReason/damaged``.
        case drop
        /// The picture is delivered with ``FrameFlags/corrupt``, if it is long enough.
        case deliver
    }

    /// The handling of pictures, which are black, while the control `privacy` reports a closed shutter.
    public enum ShutterPolicy: String, Sendable, Hashable, ChoiceOptionValue {
        /// The pictures are withheld, and the interruption is reported to sinks.
        case interrupt
        /// The pictures are delivered, for a camera that reports its shutter wrongly.
        case deliver
    }

    /// The memory shared by the sources of one capturer; nil outside a capturer.
    private(set) var seen: SeenDevice?

    /// Creates a configuration with default values.
    public init(_ address: V4L2Address = .first) { self.address = address }

    /// The source's URI.
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

    /// The configuration for decoding the camera's compressed pictures.
    public var decoding: DecodingSettings {
        // libjpeg-turbo is faster, and a camera's pictures need not match those of the ffmpeg command bit for bit.
        var settings = DecodingSettings(decoders, decoder: decoder ?? "turbojpeg")
        // The user chooses the size, so no picture of the requested size is too large.
        let most = ImageSize.maximumDimension
        settings.limits.size = size ?? ImageSize(width: most, height: most)
        settings.damage = damage == .deliver ? .mark : .drop
        settings.maximumLag = maximumLag > .zero ? maximumLag : nil
        settings.colorRange = range
        settings.colorMatrix = matrix
        return settings
    }

    /// Returns a source that captures from the camera. Opens nothing yet.
    public func makePacketSource() -> any FrameSource { V4L2Source(self) }

    /// Checks that all properties are in range.
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

/// The device that a capturer's sources have opened.
final class SeenDevice: Sendable {
    private let stored = Mutex(V4L2Identity?.none)

    var identity: V4L2Identity? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

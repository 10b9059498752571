import Foundation
import Inlet
import InletCapture
import InletConvert
import InletCore
import InletDecode
import InletV4L2
import Logging
import ReferenceTools
import Synchronization
import V4L2Source

/// A camera driven by hand, as the bridge would on its thread.
final class TestCamera {
    let context: SourceContext
    let format: SourceFormat
    private let source: any FrameSource
    private var isOpen = true

    /// - Parameters:
    ///   - patience: the maximum time of each call.
    ///   - demand: the demand of the sinks.
    ///   - onInterruption: called with the reason when an interruption begins, and with nil when it ends.
    init(
        _ configuration: V4L2Configuration, patience: Duration = .seconds(20), demand: SourceDemand = .everything,
        onInterruption: @escaping @Sendable (String?) -> Void = { _ in }
    ) throws {
        context = SourceContext(
            clock: SystemClock(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onInterruption: onInterruption)
        context.setDemand(demand)
        context.setDeadline(after: patience)
        var configuration = configuration
        configuration.decoders = PluginRegistry.standard.decoders
        source = configuration.makeSource()
        do {
            format = try source.open(context)
        } catch {
            source.close()
            throw error
        }
    }

    deinit { close() }

    func next(patience: Duration = .seconds(20)) throws -> SourceFrame {
        context.setFrameDeadline(silence: patience, total: patience, followsDemand: false)
        guard let frame = try source.next(context)?.frame else { throw InletError(.disconnected, "the stream ended") }
        return frame
    }

    /// The next packet as the camera gave it, if the demand is for packets.
    func nextPacket(patience: Duration = .seconds(20)) throws -> SourcePacket {
        context.setDeadline(after: patience)
        while let item = try source.next(context) { if let packet = item.packet { return packet } }
        throw InletError(.disconnected, "the stream ended")
    }

    func close() {
        if isOpen { source.close() }
        isOpen = false
    }

    func pause() throws -> Bool { try source.pause(context) }
    func resume() throws { try source.resume(context) }
}

/// A camera's reports of interruptions.
final class Story: Sendable {
    private let told = Mutex([String?]())

    var all: [String?] { told.withLock { $0 } }

    func note(_ reason: String?) { told.withLock { $0.append(reason) } }
}

extension V4L2Configuration {
    /// A small and fast mode of a vivid device's webcam input.
    static func vivid(_ device: Vivid = .first, format: String = "YU12", size: String = "320x180") -> V4L2Configuration
    {
        var configuration = V4L2Configuration(.path(device.bus))
        configuration.input = 0
        configuration.size = ImageSize(optionText: size)
        configuration.frameRate = Rational(60)
        configuration.format = FourCC(format)
        return configuration
    }

    /// The first camera's HDMI input, to which it is set, with a signal of the first of the driver's timings.
    static func hdmi() throws -> V4L2Configuration {
        var configuration = V4L2Configuration(.path(Vivid.first.bus))
        configuration.input = 3
        configuration.format = "YUYV"
        try Vivid.first.control("-i", "3")
        try Vivid.first.control("-c", "dv_timings_signal_mode=4,dv_timings=1")
        return configuration
    }
}

/// One of the virtual cameras.
struct Vivid {
    let bus: String
    static let first = Vivid(bus: "platform:vivid-000")
    /// Its API is the multi-planar one.
    static let second = Vivid(bus: "platform:vivid-001")

    /// Its present node.
    var node: String {
        get throws { try V4L2Devices.find(.path(bus)).node }
    }

    /// Runs `v4l2-ctl` on it.
    @discardableResult func control(_ arguments: String...) throws -> String {
        String(decoding: try ReferenceCommand.run("v4l2-ctl", ["-d", try node] + arguments), as: UTF8.self)
    }

    /// Undoes the settings of ``V4L2Configuration/hdmi()``.
    func leaveHDMI() {
        _ = try? control("-c", "dv_timings_signal_mode=0")
        _ = try? control("-i", "0")
    }

    /// Removes the driver and loads it again: both cameras are gone in between.
    static func replug() throws {
        try unbind()
        try bind()
    }

    static func unbind() throws { try write("vivid.0", "unbind") }
    static func bind() throws { try write("vivid.0", "bind") }

    private static func write(_ text: String, _ file: String) throws {
        try ReferenceCommand.run("sh", ["-c", "echo \(text) > /sys/bus/platform/drivers/vivid/\(file)"])
    }
}

import CV4L2
import InletCore
import InletV4L2
import Logging

// Unsafe: wraps a driver's buffers in frames.
/// Captures from a camera: frames in the driver's buffers if possible, with the driver's times, or packets.
final class V4L2Source: FrameSource {
    let configuration: V4L2Configuration
    /// The reason why no pictures are delivered although the camera is configured.
    var interruption: CameraInterruption
    private var camera: Camera?
    /// The stream of packets; nil if the camera does not compress.
    var stream: CompressedStream?
    var converter: VendorConverter?
    var trust = TimestampTrust()
    var doubts: Set<TimestampTrust.Doubt> = []
    var counter = SequenceCounter()
    var rateWatch = RateWatch(expected: nil)
    /// Chooses the rate; nil if the rate is fixed.
    private var rateDemand: RateDemand?
    private var colorSpace = ColorSpace.unspecified
    /// Joins fields to frames; nil if each buffer holds a complete picture.
    var joiner: FieldJoiner?
    /// The field order of the frames.
    var fieldOrder = FieldOrder.progressive
    var copies: BlockPool
    private var startsAnew = false
    var hasNotedClock = false

    static let timeBase = Rational(1, 1_000_000)
    /// The number of buffers that are always left to the driver, if it has as many.
    private static let reserve = 2

    init(_ configuration: V4L2Configuration) {
        self.configuration = configuration
        interruption = CameraInterruption(configuration.shutter)
        copies = BlockPool(capacity: configuration.copies)
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        try configuration.validate()
        // If the camera was never open, the user learns immediately that another program uses it.
        let known = configuration.seen?.identity
        let camera = try whileBusy(
            waits: known != nil, node: { known.flatMap { try? V4L2Devices.find(.identity($0)).node } }, context
        ) { () throws(InletError) in try begin(context) }
        self.camera = camera
        configuration.seen?.identity = camera.info.identity
        context.logger.info("\(camera.info.identity.name) on \(camera.device.node): \(camera.mode)")
        adopt(camera)
        followShutter(camera, context)
        return format(of: camera, rate: rateDemand?.highest ?? camera.rate)
    }

    /// Opens the camera and starts its stream.
    private func begin(_ context: SourceContext) throws(InletError) -> Camera {
        // Without a deadline, the wait for a camera that is unplugged while another program uses it would never end.
        let camera = try configuration.openCamera(waitsForDevice: !interruption.isTaken, context)
        rateDemand = nil
        // An encoder in the camera would restart with a key frame at every change.
        if let rates = camera.freeRates, let highest = camera.rate, !camera.picture.isInterCoded {
            var demand = RateDemand(rates: rates, highest: highest)
            let rate = demand.begin(pictureDemand(context))
            if rate != highest { try camera.setRate(rate) }
            rateDemand = demand
        }
        try camera.start()
        return camera
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let camera else { return nil }
        try followDemand(camera, context)
        while true {
            switch try take(camera, context) {
            case .filled(let filled) where interruption.withholdsPictures:
                counter.advance(to: filled.facts.sequence)
                camera.queue?.giveBack(filled.buffer)
            case .copied where interruption.withholdsPictures, .lost where interruption.withholdsPictures: break
            case .filled(let filled):
                if let item = try accept(filled, camera, context) { return finished(item) }
            case .copied(let lease, let count, let facts):
                if let item = try accept(lease, count, facts, camera, context) { return finished(item) }
            case .lost(let reason, let number):
                if let number { noteLoss(counter.advance(loopback: number), context) }
                drop(reason, context)
            case .coverChanged:
                if followShutter(camera, context) { beginAnew(camera) }
            case .sourceChanged:
                let codec = camera.picture.codec
                try restart(camera, context)
                guard camera.picture.codec == codec else {
                    throw InletError(
                        .disconnected, "The camera's input changed to another kind of picture: \(camera.mode).")
                }
                rateDemand = nil
                adopt(camera)
                startsAnew = true
                stream?.noteLoss()
                context.logger.notice("The camera's input changed: \(camera.mode)")
            }
        }
    }

    func pause(_ context: SourceContext) throws -> Bool {
        camera?.stop()
        return camera?.queue != nil
    }

    func resume(_ context: SourceContext) throws {
        guard let camera else { return }
        try camera.start()
        followShutter(camera, context)
        beginAnew(camera)
    }

    /// Prepares for pictures that follow an intentional gap.
    private func beginAnew(_ camera: Camera) {
        restartCount()
        stream?.noteLoss()
        rateWatch = RateWatch(expected: camera.rate)
    }

    /// Waits for a picture or an event. A stream that another program has ended starts again when that program has
    /// gone.
    private func take(_ camera: Camera, _ context: SourceContext) throws(InletError) -> Camera.Event {
        while true {
            do throws(InletError) {
                return try camera.take(context)
            } catch {
                guard error.code == .busy else { throw error }
                try restart(camera, context)
                beginAnew(camera)
            }
        }
    }

    private func restart(_ camera: Camera, _ context: SourceContext) throws(InletError) {
        try whileBusy(waits: true, node: { camera.device.node }, context) { () throws(InletError) in
            try camera.restart()
        }
    }

    /// Returns the combined demand of the sinks. A sink that takes packets without decoding gets all of them.
    private func pictureDemand(_ context: SourceContext) -> SourceDemand {
        let demand = context.demand
        return demand.packets ? .everything : demand
    }

    /// Changes to the lowest rate that satisfies all sinks.
    private func followDemand(_ camera: Camera, _ context: SourceContext) throws(InletError) {
        let demand = pictureDemand(context)
        guard rateDemand != nil, let rate = rateDemand?.follow(demand, at: context.clock.now) else { return }
        do throws(InletError) {
            try camera.setRate(rate)
            context.logger.info("The rate that the sinks need has changed: \(camera.mode)")
        } catch {
            guard error.code == .busy || error.code == .unsupported || error.code == .invalidConfiguration else {
                throw error
            }
            rateDemand = nil
            context.logger.notice("The camera keeps its rate: \(error.message)")
        }
        restartCount()
        rateWatch = RateWatch(expected: camera.rate)
    }

    /// Prepares for a driver that counts from the beginning.
    private func restartCount() {
        counter.restart()
        joiner?.restart()
    }

    func close() {
        camera?.close()
        (camera, stream, converter, joiner) = (nil, nil, nil, nil)
    }

    /// Prepares for the current mode.
    private func adopt(_ camera: Camera) {
        let picture = camera.picture
        colorSpace = picture.colorSpace
        if let range = configuration.range { colorSpace.range = range }
        if let matrix = configuration.matrix { colorSpace.matrix = matrix }
        stream = nil
        converter = nil
        if case .compressed(let codec) = picture.layout {
            // JPEG has full range and the matrix of BT.601 (JFIF 1.02), whatever the driver states.
            if codec == .mjpeg {
                colorSpace.range = configuration.range ?? .full
                colorSpace.matrix = configuration.matrix ?? .bt470bg
            }
            stream = CompressedStream(parameters(of: camera, codec))
        }
        (joiner, fieldOrder) = FieldJoiner.prepared(for: picture)
        trust = TimestampTrust()
        counter.restart()
        rateWatch = RateWatch(expected: camera.rate)
    }

    /// Returns the parameters of the packets of a camera that compresses.
    private func parameters(of camera: Camera, _ codec: VideoCodec) -> CodecParameters {
        CodecParameters(
            codec: codec, size: camera.picture.size, timeBase: Self.timeBase,
            // The camera may change to a lower rate and back, but the packets' parameters must not change.
            frameRate: rateDemand?.highest ?? camera.rate,
            colorSpace: colorSpace)
    }

    /// - Parameter rate: the camera's highest rate, whatever the current one is.
    private func format(of camera: Camera, rate: Rational?) -> SourceFormat {
        var format = SourceFormat(
            size: camera.picture.size, pixelFormat: camera.picture.pixelFormat ?? .yuv420p, frameRate: rate,
            timeBase: Self.timeBase, colorSpace: colorSpace, pacing: .live,
            container: "\(camera.info.identity.name) (\(camera.device.driver), \(camera.picture.code))")
        if case .compressed(let codec) = camera.picture.layout {
            format.codec = codec.rawValue
            format.packetStream = PacketStream(parameters(of: camera, codec))
        }
        return format
    }

    /// Marks the first frame or packet of a new picture size or input.
    private func finished(_ item: SourceItem) -> SourceItem {
        guard startsAnew else { return item }
        startsAnew = false
        switch item {
        case .frame(var frame):
            frame.flags.insert(.discontinuity)
            return .frame(frame)
        case .packet(var packet):
            packet.flags.insert(.discontinuity)
            return .packet(packet)
        }
    }

    /// Counts a picture that is not delivered.
    func drop(_ reason: DropReason, _ context: SourceContext) {
        context.countDrop(reason)
        stream?.noteLoss()
    }

    /// Counts pictures that the driver lost. Gaps in the numbers of frames reveal a loss; packets have no numbers.
    private func noteLoss(_ count: UInt64, _ context: SourceContext) {
        guard let stream, count > 0 else { return }
        context.countDrop(.lostBySource, count)
        stream.noteLoss()
    }

    /// Returns a frame or packet for a buffer that the driver filled, or nil if there is nothing to deliver.
    private func accept(
        _ filled: CaptureQueue.Filled, _ camera: Camera, _ context: SourceContext
    ) throws(InletError) -> SourceItem? {
        guard let queue = camera.queue else { return nil }
        if camera.picture.fields == .alternating { return try accept(field: filled, queue, camera, context) }
        let now = context.clock.now
        let flags = filled.facts.flags
        let lost = counter.advance(to: filled.facts.sequence)
        noteLoss(lost, context)
        let memory = unsafe filled.bytes
        let lengths = PlaneValues(filled.facts.bytesused).first(filled.facts.planes)
        let isWhole = camera.picture.isWhole(lengths)
        let isDamaged = flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0 || !isWhole
        if isDamaged, configuration.damage == .drop || !isWhole {
            queue.giveBack(filled.buffer)
            drop(.damaged, context)
            return nil
        }
        let time = time(of: filled.facts, now: now, context)
        if let rate = rateWatch.note(at: time ?? now, lost: lost) { sayThatItIsSlow(rate, camera, context) }
        if let joiner, case .sequential(let order) = camera.picture.fields {
            defer { queue.giveBack(filled.buffer) }
            guard let lease = camera.copyPool.take(byteCount: joiner.weave.byteCount) else {
                context.countDrop(.poolExhausted)
                return nil
            }
            unsafe joiner.weave.copy(memory, order, to: lease.block)
            return try woven(lease, joiner.weave, camera, time, isDamaged: isDamaged, context)
        }
        guard case .pixels(let pixelFormat, _) = camera.picture.layout else {
            defer { queue.giveBack(filled.buffer) }
            let isKey = flags & UInt32(V4L2_BUF_FLAG_KEYFRAME) != 0
            return unsafe try remake(memory, camera, time, isKey: isKey, isDamaged: isDamaged, context)
        }
        if filled.left >= max(1, min(Self.reserve, queue.count - 1)) {
            let lease = queue.lend(filled.buffer)
            let planes = unsafe camera.picture.planes(in: filled.whole)
            return .frame(frame(pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera))
        }
        // Frames hold so many buffers that the driver would soon run out of them.
        defer { queue.giveBack(filled.buffer) }
        guard let lease = unsafe copies.take(byteCount: memory.reduce(0) { $0 + $1.count }) else {
            context.countDrop(.poolExhausted)
            return nil
        }
        var copied: [UnsafeRawBufferPointer] = unsafe []
        var offset = 0
        for index in unsafe memory.indices {
            let plane = unsafe memory[index]
            let target = unsafe UnsafeMutableRawBufferPointer(
                rebasing: lease.block.memory[offset..<offset + plane.count])
            unsafe target.copyMemory(from: plane)
            unsafe copied.append(UnsafeRawBufferPointer(target))
            offset += plane.count
        }
        let planes = unsafe camera.picture.planes(in: copied)
        return .frame(frame(pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera))
    }

    /// Returns a frame or packet for a copy, which has neither time nor number if the driver reports none.
    private func accept(
        _ lease: BlockLease, _ count: Int, _ facts: inlet_v4l2_buffer?, _ camera: Camera, _ context: SourceContext
    ) throws(InletError) -> SourceItem? {
        let now = context.clock.now
        let lost = facts.map { counter.advance(loopback: $0.sequence) }
        noteLoss(lost ?? 0, context)
        guard camera.picture.isWhole([count]) else {
            drop(.damaged, context)
            return nil
        }
        let time = facts.flatMap { self.time(of: $0, now: now, context) }
        if let lost, let rate = rateWatch.note(at: time ?? now, lost: lost) { sayThatItIsSlow(rate, camera, context) }
        let memory = unsafe [UnsafeRawBufferPointer(rebasing: lease.block.memory[..<count])]
        guard case .pixels(let pixelFormat, _) = camera.picture.layout else {
            return unsafe try remake(memory, camera, time, isKey: false, isDamaged: false, context)
        }
        let planes = unsafe camera.picture.planes(in: memory)
        return .frame(frame(pixelFormat, planes, owner: lease, time, isDamaged: false, camera))
    }

    func frame(
        _ pixelFormat: PixelFormat, _ planes: SourcePlanes, owner: any AnyObject & Sendable, _ time: MonotonicTime?,
        isDamaged: Bool, _ camera: Camera
    ) -> SourceFrame {
        var frame = SourceFrame(
            pixelFormat: pixelFormat, size: camera.picture.size, planes: planes, owner: owner,
            pts: time.map(Self.pts),
            duration: nil, sequence: counter.take(), colorSpace: colorSpace, flags: isDamaged ? .corrupt : [],
            sampleAspectRatio: nil)
        frame.captureTime = time
        frame.fieldOrder = fieldOrder
        return frame
    }
}

import CV4L2
import InletCore
import InletV4L2
import Logging

// Unsafe: wraps a driver's buffers in frames.
/// Captures from a camera: frames in the driver's buffers if possible, with the driver's times, or packets.
final class V4L2Source: FrameSource {
    let configuration: V4L2Configuration
    /// Why no pictures are delivered although the camera is configured.
    var interruption: CameraInterruption
    private var camera: Camera?
    /// The stream of packets; nil if the camera does not compress.
    private var stream: CompressedStream?
    private var converter: VendorConverter?
    var trust = TimestampTrust()
    var doubts: Set<TimestampTrust.Doubt> = []
    private var counter = SequenceCounter()
    private var rateWatch = RateWatch(expected: nil)
    /// Chooses the rate; nil if it cannot be chosen here.
    private var rateDemand: RateDemand?
    private var colorSpace = ColorSpace.unspecified
    private var copies: BlockPool
    private var startsAnew = false
    var hasNotedClock = false

    static let timeBase = Rational(1, 1_000_000)
    /// The number of buffers that the driver always keeps to fill, if it has as many.
    private static let reserve = 2

    init(_ configuration: V4L2Configuration) {
        self.configuration = configuration
        interruption = CameraInterruption(configuration.shutter)
        copies = BlockPool(capacity: configuration.copies)
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        try configuration.validate()
        // Of a camera that was never open, the user hears at once that another program has it.
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
        // Without a deadline, a camera that is unplugged while another program has it would be waited for forever.
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

    /// Prepares for pictures after some that are not missed.
    private func beginAnew(_ camera: Camera) {
        counter.restart()
        stream?.noteLoss()
        rateWatch = RateWatch(expected: camera.rate)
    }

    /// Waits for a picture or an event. A stream that another program has ended begins anew when that has gone.
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

    /// Returns the combined demand of the sinks. A sink that takes undecoded packets gets all of them.
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
            context.logger.info("The sinks want other rates than before: \(camera.mode)")
        } catch {
            guard error.code == .busy || error.code == .unsupported || error.code == .invalidConfiguration else {
                throw error
            }
            rateDemand = nil
            context.logger.notice("The camera stays at its rate: \(error.message)")
        }
        counter.restart()
        rateWatch = RateWatch(expected: camera.rate)
    }

    func close() {
        camera?.close()
        (camera, stream, converter) = (nil, nil, nil)
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
            // JPEG has full range and the matrix of BT.601 (JFIF 1.02), whatever the driver says.
            if codec == .mjpeg {
                colorSpace.range = configuration.range ?? .full
                colorSpace.matrix = configuration.matrix ?? .bt470bg
            }
            stream = CompressedStream(parameters(of: camera, codec))
        }
        trust = TimestampTrust()
        counter.restart()
        rateWatch = RateWatch(expected: camera.rate)
    }

    /// Returns the parameters of the packets of a camera that compresses.
    private func parameters(of camera: Camera, _ codec: VideoCodec) -> CodecParameters {
        CodecParameters(
            codec: codec, size: camera.picture.size, timeBase: Self.timeBase,
            // The camera may change to a lower rate and back, while the packets' parameters must not change.
            frameRate: rateDemand?.highest ?? camera.rate,
            colorSpace: colorSpace)
    }

    /// - Parameter rate: the camera's highest rate, whatever its current one.
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
    private func drop(_ reason: DropReason, _ context: SourceContext) {
        context.countDrop(reason)
        stream?.noteLoss()
    }

    /// Counts pictures that the driver lost. A gap in the numbers of frames shows the loss; packets have none.
    private func noteLoss(_ count: UInt64, _ context: SourceContext) {
        guard let stream, count > 0 else { return }
        context.countDrop(.lostBySource, count)
        stream.noteLoss()
    }

    /// Returns a frame or packet of a buffer that the driver filled, or nil if there is nothing to deliver.
    private func accept(
        _ filled: CaptureQueue.Filled, _ camera: Camera, _ context: SourceContext
    ) throws(InletError) -> SourceItem? {
        guard let queue = camera.queue else { return nil }
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
        // Frames hold so many buffers that the driver would soon have none left.
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

    /// Returns a frame or packet of a copy, which has neither time nor number if the driver reports none.
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

    /// Returns a packet of a compressed picture, or a frame of one that must be rewritten.
    ///
    /// - Parameter isKey: whether the driver says that decoding can start with it.
    @unsafe private func remake(
        _ memory: [UnsafeRawBufferPointer], _ camera: Camera, _ time: MonotonicTime?, isKey: Bool, isDamaged: Bool,
        _ context: SourceContext
    ) throws(InletError) -> SourceItem? {
        guard let bytes = unsafe memory.first else { return nil }
        switch camera.picture.layout {
        case .pixels: return nil
        case .repacked(let repacking):
            guard let lease = copies.take(byteCount: repacking.layout(size: camera.picture.size).byteCount) else {
                context.countDrop(.poolExhausted)
                return nil
            }
            let planes = unsafe camera.picture.repack(repacking, from: memory, to: lease.block)
            return .frame(frame(repacking.pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera))
        case .vendor(let vendor):
            return unsafe try converted(bytes, vendor, camera, time, isDamaged: isDamaged, context).map { .frame($0) }
        case .compressed:
            return unsafe packet(of: bytes, time, isKey: isKey, isDamaged: isDamaged, context).map { .packet($0) }
        }
    }

    /// Returns a packet of a compressed picture, or nil if there is nothing to deliver.
    @unsafe private func packet(
        of bytes: UnsafeRawBufferPointer, _ time: MonotonicTime?, isKey: Bool, isDamaged: Bool,
        _ context: SourceContext
    ) -> SourcePacket? {
        guard let stream else { return nil }
        // Many packets may pass without a picture being wanted.
        context.reportProgress()
        let output = unsafe stream.packet(
            of: bytes, isKey: isKey, isDamaged: isDamaged)
        switch output {
        case .header: return nil
        case .undecodable: drop(.undecodable, context)
        case .exhausted: drop(.poolExhausted, context)
        case .packet(let data, let parameters, let flags):
            let pts = time.map(Self.pts)
            var packet = SourcePacket(
                parameters: parameters, data: data, pts: pts, dts: stream.isIntra ? pts : nil, flags: flags)
            packet.captureTime = time
            packet.receiveTime = context.clock.now
            return packet
        }
        return nil
    }

    private static func pts(_ time: MonotonicTime) -> MediaTime {
        MediaTime(ticks: time.nanoseconds / 1000, timeBase: timeBase)
    }

    /// Returns a frame of a picture that libv4l's converter rewrites.
    @unsafe private func converted(
        _ bytes: UnsafeRawBufferPointer, _ vendor: VendorFormat, _ camera: Camera, _ time: MonotonicTime?,
        isDamaged: Bool, _ context: SourceContext
    ) throws(InletError) -> SourceFrame? {
        let converter: VendorConverter
        if let known = self.converter {
            converter = known
        } else {
            converter = try VendorConverter(camera.picture.code, vendor, size: camera.picture.size)
            self.converter = converter
        }
        let layout = vendor.layout(size: camera.picture.size)
        guard let lease = copies.take(byteCount: layout.byteCount) else {
            context.countDrop(.poolExhausted)
            return nil
        }
        guard unsafe converter.convert(bytes, to: lease.block) else {
            context.countDrop(.undecodable)
            return nil
        }
        let planes = lease.block.planes(layout.planes)
        return frame(vendor.pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera)
    }

    private func frame(
        _ pixelFormat: PixelFormat, _ planes: SourcePlanes, owner: any AnyObject & Sendable, _ time: MonotonicTime?,
        isDamaged: Bool, _ camera: Camera
    ) -> SourceFrame {
        var frame = SourceFrame(
            pixelFormat: pixelFormat, size: camera.picture.size, planes: planes, owner: owner,
            pts: time.map(Self.pts),
            duration: nil, sequence: counter.take(), colorSpace: colorSpace, flags: isDamaged ? .corrupt : [],
            sampleAspectRatio: nil)
        frame.captureTime = time
        return frame
    }
}

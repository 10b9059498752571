import CV4L2
import InletCore
import InletFFmpeg
import InletV4L2
import Logging

/// Captures from a camera: frames in the driver's own buffers wherever possible, with the driver's own times.
final class V4L2Source: FrameSource {
    private let configuration: V4L2Configuration
    private var camera: Camera?
    private var decoder: CompressedDecoder?
    private var converter: VendorConverter?
    private var trust = TimestampTrust()
    private var doubts: Set<TimestampTrust.Doubt> = []
    private var counter = SequenceCounter()
    private var rateWatch = RateWatch(expected: nil)
    /// Nil where the rate is not ours to choose.
    private var rateDemand: RateDemand?
    private var colorSpace = ColorSpace.unspecified
    private var copies: BlockPool
    private let pictures: I420BufferPool
    private var startsAnew = false
    /// What a decoder was given under each time, until its frame comes out.
    private var pending: [Int64: MonotonicTime] = [:]
    private var hasNotedClock = false

    static let timeBase = Rational(1, 1_000_000)
    /// The driver keeps at least this many buffers to fill, where it has as many.
    private static let reserve = 2

    init(_ configuration: V4L2Configuration) {
        self.configuration = configuration
        copies = BlockPool(capacity: configuration.copies)
        pictures = I420BufferPool(capacity: max(2, configuration.copies))
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        try configuration.validate()
        let camera = try configuration.openCamera(context)
        self.camera = camera
        rateDemand = nil
        // An encoder in the camera would begin with a new key picture at every change.
        if let rates = camera.freeRates, let highest = camera.rate, !camera.picture.isInterCoded {
            var demand = RateDemand(rates: rates, highest: highest)
            let rate = demand.begin(context.demand)
            if rate != highest { try camera.setRate(rate) }
            rateDemand = demand
        }
        let stated = rateDemand?.highest ?? camera.rate
        try camera.start()
        configuration.seen?.identity = camera.info.identity
        context.logger.info("\(camera.info.identity.name) on \(camera.device.node): \(camera.mode)")
        if camera.isCovered { sayThatItIsCovered(context) }
        adopt(camera)
        return format(of: camera, rate: stated)
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let camera else { return nil }
        try followDemand(camera, context)
        while true {
            switch try camera.take(context) {
            case .filled(let filled):
                if let frame = try accept(filled, camera, context) { return .frame(finished(frame)) }
            case .copied(let lease, let count, let facts):
                if let frame = try accept(lease, count, facts, camera, context) { return .frame(finished(frame)) }
            case .lost(let reason, let number):
                if let number { counter.advance(loopback: number) }
                context.countDrop(reason)
            case .coverChanged:
                if camera.isCovered {
                    sayThatItIsCovered(context)
                } else {
                    context.logger.notice("The camera's shutter is open.")
                }
            case .sourceChanged:
                try camera.restart()
                rateDemand = nil
                adopt(camera)
                startsAnew = true
                context.logger.notice("The camera's input changed: \(camera.mode)")
            }
        }
    }

    func pause(_ context: SourceContext) throws -> Bool {
        camera?.stop()
        return camera?.queue != nil
    }

    func resume(_ context: SourceContext) throws {
        try camera?.start()
        counter.restart()
        rateWatch = RateWatch(expected: camera?.rate)
    }

    /// Goes to the lowest rate that all sinks are content with.
    private func followDemand(_ camera: Camera, _ context: SourceContext) throws(InletError) {
        guard rateDemand != nil, let rate = rateDemand?.follow(context.demand, at: context.clock.now) else { return }
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
        camera = nil
        decoder = nil
        converter = nil
    }

    /// Prepares for the mode that is set.
    private func adopt(_ camera: Camera) {
        let picture = camera.picture
        colorSpace = picture.colorSpace
        if let range = configuration.range { colorSpace.range = range }
        if let matrix = configuration.matrix { colorSpace.matrix = matrix }
        decoder = nil
        converter = nil
        if case .compressed(let codec) = picture.layout {
            decoder = CompressedDecoder(codec: codec, size: picture.size, pool: pictures)
            // JPEG is of full range, whatever the driver says.
            if codec == "mjpeg", configuration.range == nil { colorSpace.range = .full }
        }
        trust = TimestampTrust()
        counter.restart()
        rateWatch = RateWatch(expected: camera.rate)
        pending = [:]
    }

    /// - Parameter rate: what the camera has for those who want it all, whatever it is set to now.
    private func format(of camera: Camera, rate: Rational?) -> SourceFormat {
        var codec: String?
        if case .compressed(let name) = camera.picture.layout { codec = name }
        return SourceFormat(
            size: camera.picture.size, pixelFormat: camera.picture.pixelFormat ?? .yuv420p, frameRate: rate,
            timeBase: Self.timeBase, colorSpace: colorSpace, pacing: .live, codec: codec,
            container: "\(camera.info.identity.name) (\(camera.device.driver), \(camera.picture.code))")
    }

    /// Marks the first frame of a new picture size or input.
    private func finished(_ frame: SourceFrame) -> SourceFrame {
        guard startsAnew else { return frame }
        startsAnew = false
        var frame = frame
        frame.flags.insert(.discontinuity)
        return frame
    }

    /// A frame of a buffer that the driver filled, or nil where it is worth none.
    private func accept(
        _ filled: CaptureQueue.Filled, _ camera: Camera, _ context: SourceContext
    ) throws(InletError) -> SourceFrame? {
        guard let queue = camera.queue else { return nil }
        let now = context.clock.now
        let flags = filled.facts.flags
        let lost = counter.advance(to: filled.facts.sequence)
        let memory = unsafe filled.bytes
        let lengths = PlaneValues(filled.facts.bytesused).first(filled.facts.planes)
        let isWhole = camera.picture.isWhole(lengths)
        let isDamaged = flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0 || !isWhole
        if isDamaged, configuration.damage == .drop || !isWhole {
            queue.giveBack(filled.buffer)
            context.countDrop(.damaged)
            return nil
        }
        let time = time(of: filled.facts, now: now, context)
        if let rate = rateWatch.note(at: time ?? now, lost: lost) { sayThatItIsSlow(rate, camera, context) }
        guard case .pixels(let pixelFormat, _) = camera.picture.layout else {
            defer { queue.giveBack(filled.buffer) }
            return unsafe try remake(memory, camera, time, isDamaged: isDamaged, context)
        }
        if filled.left >= max(1, min(Self.reserve, queue.count - 1)) {
            let lease = queue.lend(filled.buffer)
            let planes = unsafe camera.picture.planes(in: filled.whole)
            return frame(pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera)
        }
        // Frames hold so many buffers that the driver would soon have none.
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
        return frame(pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera)
    }

    /// A frame of what was copied, which has neither time nor number where the driver says nothing of it.
    private func accept(
        _ lease: BlockLease, _ count: Int, _ facts: inlet_v4l2_buffer?, _ camera: Camera, _ context: SourceContext
    ) throws(InletError) -> SourceFrame? {
        let now = context.clock.now
        let lost = facts.map { counter.advance(loopback: $0.sequence) }
        guard camera.picture.isWhole([count]) else {
            context.countDrop(.damaged)
            return nil
        }
        let time = facts.flatMap { self.time(of: $0, now: now, context) }
        if let lost, let rate = rateWatch.note(at: time ?? now, lost: lost) { sayThatItIsSlow(rate, camera, context) }
        let memory = unsafe [UnsafeRawBufferPointer(rebasing: lease.block.memory[..<count])]
        guard case .pixels(let pixelFormat, _) = camera.picture.layout else {
            return unsafe try remake(memory, camera, time, isDamaged: false, context)
        }
        let planes = unsafe camera.picture.planes(in: memory)
        return frame(pixelFormat, planes, owner: lease, time, isDamaged: false, camera)
    }

    /// A frame of a picture that must be decoded or rewritten.
    @unsafe private func remake(
        _ memory: [UnsafeRawBufferPointer], _ camera: Camera, _ time: MonotonicTime?, isDamaged: Bool,
        _ context: SourceContext
    ) throws(InletError) -> SourceFrame? {
        if case .repacked(let repacking) = camera.picture.layout {
            guard let lease = copies.take(byteCount: repacking.layout(size: camera.picture.size).byteCount) else {
                context.countDrop(.poolExhausted)
                return nil
            }
            let planes = unsafe camera.picture.repack(repacking, from: memory, to: lease.block)
            return frame(repacking.pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera)
        }
        if case .vendor(let vendor) = camera.picture.layout, let bytes = unsafe memory.first {
            return unsafe try converted(bytes, vendor, camera, time, isDamaged: isDamaged, context)
        }
        guard let decoder, let data = unsafe memory.first else { return nil }
        let pts = time.map { $0.nanoseconds / 1000 }
        if let pts, let time, !decoder.isIntra {
            // Bounded, as a decoder may swallow what it cannot use.
            if pending.count > 64 { pending = [:] }
            pending[pts] = time
        }
        let output: CompressedDecoder.Output
        do throws(InletError) {
            output = unsafe try decoder.decode(data, pts: pts)
        } catch {
            guard error.code == .resourceExhausted else { throw error }
            context.countDrop(.poolExhausted)
            return nil
        }
        switch output {
        case .picture(let buffer):
            return frame(.yuv420p, SourcePlanes(buffer), owner: buffer, time, isDamaged: isDamaged, camera)
        case .frame(let decoded): return accept(decoded, time, isDamaged: isDamaged, camera, context)
        case .nothing: return nil
        case .undecodable:
            context.countDrop(.undecodable)
            return nil
        }
    }

    /// A frame of a picture that libv4l's converter rewrites.
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

    private func accept(
        _ decoded: FFmpegFrame, _ time: MonotonicTime?, isDamaged: Bool, _ camera: Camera, _ context: SourceContext
    ) -> SourceFrame? {
        guard !decoded.isDamaged || configuration.damage == .deliver,
            let pixelFormat = PixelFormat(decoded.nativePixelFormat)
        else {
            context.countDrop(.damaged)
            return nil
        }
        var time = time
        if let pts = decoded.bestEffortTimestamp, let known = pending.removeValue(forKey: pts) { time = known }
        var frame = frame(
            pixelFormat, decoded.planes, owner: decoded, time, isDamaged: isDamaged || decoded.isDamaged, camera)
        frame.size = decoded.size
        if decoded.isKey { frame.flags.insert(.key) }
        // What the stream says counts more than the driver, what the configuration says most.
        let told = decoded.colorSpace
        if told.matrix != .unspecified, configuration.matrix == nil { frame.colorSpace.matrix = told.matrix }
        if told.range != .unspecified, configuration.range == nil { frame.colorSpace.range = told.range }
        return frame
    }

    private func frame(
        _ pixelFormat: PixelFormat, _ planes: SourcePlanes, owner: any AnyObject & Sendable, _ time: MonotonicTime?,
        isDamaged: Bool, _ camera: Camera
    ) -> SourceFrame {
        var frame = SourceFrame(
            pixelFormat: pixelFormat, size: camera.picture.size, planes: planes, owner: owner,
            pts: time.map { MediaTime(ticks: $0.nanoseconds / 1000, timeBase: Self.timeBase) },
            duration: nil, sequence: counter.take(), colorSpace: colorSpace, flags: isDamaged ? .corrupt : [],
            sampleAspectRatio: nil)
        frame.captureTime = time
        return frame
    }

    /// The driver's time of a picture, where it can be believed.
    private func time(of facts: inlet_v4l2_buffer, now: MonotonicTime, _ context: SourceContext) -> MonotonicTime? {
        let clock = facts.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK)
        if !hasNotedClock {
            hasNotedClock = true
            let isStart = facts.flags & UInt32(V4L2_BUF_FLAG_TSTAMP_SRC_MASK) == UInt32(V4L2_BUF_FLAG_TSTAMP_SRC_SOE)
            let name =
                clock == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
                ? "the monotonic clock" : "a clock that it does not name"
            context.logger.debug(
                "The driver's times are of \(name), at the \(isStart ? "start of exposure" : "end of the frame").")
        }
        let time = MonotonicTime(nanoseconds: facts.timestamp_ns)
        let doubt = trust.judge(time, isCopied: clock == UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY), now: now)
        guard doubt != .none else { return time }
        if doubts.insert(doubt).inserted {
            context.logger.warning("\(doubt.rawValue): the time of arrival is taken instead.")
        }
        return nil
    }
}

extension CaptureQueue.Filled {
    /// The pictures' bytes, one piece for each of the driver's planes.
    @unsafe var bytes: [UnsafeRawBufferPointer] { unsafe pieces(used: true) }

    /// All of the memory, which may hold more than the picture.
    @unsafe var whole: [UnsafeRawBufferPointer] { unsafe pieces(used: false) }

    @unsafe private func pieces(used: Bool) -> [UnsafeRawBufferPointer] {
        unsafe buffer.planes.enumerated().map { index, plane in
            let start = min(PlaneValues(facts.data_offset)[index], plane.count)
            let length = PlaneValues(facts.bytesused)[index]
            let end = used && length > start ? min(length, plane.count) : plane.count
            return unsafe UnsafeRawBufferPointer(rebasing: plane[start..<end])
        }
    }
}

import CV4L2
import InletCore
import InletV4L2

// Unsafe: copies fields out of a driver's buffers.
extension V4L2Source {
    /// Accepts a buffer that holds one field.
    ///
    /// The field is copied and the buffer freed at once.
    ///
    /// - Returns: the frame that the field completes; nil if its other half is missing.
    func accept(
        field filled: CaptureQueue.Filled, _ queue: CaptureQueue, _ camera: Camera, _ context: SourceContext
    ) throws(InletError) -> SourceItem? {
        defer { queue.giveBack(filled.buffer) }
        guard let parity = FieldPairing.Parity(v4l2: filled.facts.field), var joiner else {
            counter.advance(to: filled.facts.sequence)
            drop(.damaged, context)
            return nil
        }
        defer { self.joiner = joiner }
        let (step, incomplete) = joiner.pairing.note(parity, number: filled.facts.sequence)
        for number in incomplete {
            joiner.incomplete += counter.advance(to: number) + 1
            joiner.kept = nil
            drop(.damaged, context)
        }
        let memory = unsafe filled.bytes
        let lengths = PlaneValues(filled.facts.bytesused).first(filled.facts.planes)
        let isWhole = camera.picture.isWhole(lengths)
        let isDamaged = filled.facts.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0
        switch step {
        case .unpaired: return nil
        case .first:
            let now = context.clock.now
            joiner.kept = FieldJoiner.Kept(
                lease: camera.copyPool.take(byteCount: joiner.weave.byteCount),
                time: time(of: filled.facts, now: now, context), isDamaged: isDamaged, isWhole: isWhole)
            if let lease = joiner.kept?.lease { unsafe joiner.weave.copy(memory, parity, to: lease.block) }
            return nil
        case .second(let order, let number):
            let lost = counter.advance(to: number) + joiner.incomplete
            let kept = joiner.kept
            (joiner.kept, joiner.incomplete) = (nil, 0)
            guard let kept, let lease = kept.lease else {
                drop(.poolExhausted, context)
                return nil
            }
            let hasDamage = isDamaged || kept.isDamaged
            guard isWhole, kept.isWhole, !hasDamage || configuration.damage == .deliver else {
                drop(.damaged, context)
                return nil
            }
            unsafe joiner.weave.copy(memory, parity, to: lease.block)
            if let rate = rateWatch.note(at: kept.time ?? context.clock.now, lost: lost) {
                sayThatItIsSlow(rate, camera, context)
            }
            fieldOrder = order
            return try woven(lease, joiner.weave, camera, kept.time, isDamaged: hasDamage, context)
        }
    }

    /// Returns a frame for a picture that was woven in the driver's layout.
    func woven(
        _ lease: BlockLease, _ weave: FieldWeave, _ camera: Camera, _ time: MonotonicTime?, isDamaged: Bool,
        _ context: SourceContext
    ) throws(InletError) -> SourceItem? {
        let memory = unsafe weave.planes(of: lease.block)
        guard case .pixels(let pixelFormat, _) = camera.picture.layout else {
            defer { withExtendedLifetime(lease) {} }
            return unsafe try remake(memory, camera, time, isKey: false, isDamaged: isDamaged, context)
        }
        let planes = unsafe camera.picture.planes(in: memory)
        return .frame(frame(pixelFormat, planes, owner: lease, time, isDamaged: isDamaged, camera))
    }
}

extension FieldPairing.Parity {
    /// Creates the parity of a buffer; nil if the buffer does not hold one field.
    init?(v4l2 field: UInt32) {
        switch v4l2_field(rawValue: field) {
        case V4L2_FIELD_TOP: self = .top
        case V4L2_FIELD_BOTTOM: self = .bottom
        default: return nil
        }
    }
}

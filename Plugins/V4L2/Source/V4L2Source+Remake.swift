import InletCore
import InletV4L2

// Unsafe: copies pictures out of a driver's buffers.
/// Packets of compressed pictures, and frames of pictures that must be rewritten.
extension V4L2Source {
    /// Returns a packet of a compressed picture, or a frame of one that must be rewritten.
    ///
    /// - Parameter isKey: whether decoding can start with this picture, according to the driver.
    @unsafe func remake(
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
        // Many packets may pass while no picture is wanted.
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

    static func pts(_ time: MonotonicTime) -> MediaTime {
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
}

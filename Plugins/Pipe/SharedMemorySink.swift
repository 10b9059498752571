import InletCore

/// Writes each picture into the oldest slot of a segment of shared memory.
final class SharedMemorySink: FrameSink {
    private let configuration: SharedMemorySinkConfiguration
    private let subject: String
    private var segment: SharedMemorySegment?

    init(_ configuration: SharedMemorySinkConfiguration) {
        self.configuration = configuration
        subject = configuration.redactedURI
    }

    /// A picture is copied to memory whether or not there is a reader.
    var consumesAtOnce: Bool { true }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        guard SharedMemorySinkConfiguration.slotCounts.contains(configuration.slots) else {
            let counts = SharedMemorySinkConfiguration.slotCounts
            throw InletError(
                .invalidConfiguration,
                "A segment has \(counts.lowerBound) to \(counts.upperBound) slots, not \(configuration.slots).",
                context: .init(subject: subject))
        }
        let segment = try makeSegment(for: format.size, published: 0)
        do throws(InletError) {
            try segment.publish()
        } catch {
            throw error.about(subject)
        }
        self.segment = segment
    }

    func consume(_ frame: VideoFrame) throws {
        guard let current = segment else { return }
        guard SharedMemoryLayout.planes(of: frame.size).end > current.slotBytes else { return current.publish(frame) }
        let larger = try makeSegment(for: frame.size, published: current.publishedCount)
        // The frame is written before the segment has its name, so that a reader that opens the name finds the frame.
        larger.publish(frame)
        do throws(InletError) {
            try larger.replace(current)
        } catch {
            throw error.about(subject)
        }
        segment = larger
    }

    func finish() throws {
        segment?.end()
        segment = nil
    }

    private func makeSegment(for size: ImageSize, published: UInt64) throws(InletError) -> SharedMemorySegment {
        do throws(InletError) {
            return try SharedMemorySegment(
                name: "/" + configuration.name, slots: configuration.slots,
                slotBytes: SharedMemoryLayout.slotBytes(for: size), mode: configuration.readers.mode,
                published: published)
        } catch {
            throw error.about(subject)
        }
    }
}

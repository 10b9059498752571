import InletCore
import Testing

@Suite struct I420BufferPoolTests {
    private let vga = ImageSize(width: 640, height: 480)

    @Test("A released buffer is used for the next picture")
    func reuses() throws {
        let pool = I420BufferPool(capacity: 3)
        var addresses: Set<UInt> = []
        for _ in 0..<100 {
            let buffer = try pool.makeBuffer(size: vga).publish()
            addresses.insert(unsafe UInt(bitPattern: buffer.baseAddress(of: .y)))
        }
        #expect(addresses.count == 1)
        #expect(pool.statistics.allocations == 1)
        #expect(pool.statistics.inUse == 0)
        #expect(pool.statistics.idle == 1)
    }

    @Test("A held buffer is never handed out again")
    func distinct() throws {
        let pool = I420BufferPool(capacity: 4)
        let buffers = try (0..<4).map { value in
            var draft = try pool.makeBuffer(size: vga)
            draft.fill(y: UInt8(value), u: 0, v: 0)
            return draft.publish()
        }
        #expect(buffers.map { $0.row(479, of: .y)[639] } == [0, 1, 2, 3])
    }

    @Test("More pictures than the capacity are refused until one comes back")
    func bounded() throws {
        let pool = I420BufferPool(capacity: 2)
        var held = try [pool.makeBuffer(size: vga).publish(), pool.makeBuffer(size: vga).publish()]
        let error = #expect(throws: InletError.self) { _ = try pool.makeBuffer(size: vga).publish() }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message.contains("2 pictures") == true)
        #expect(pool.statistics.inUse == 2)
        #expect(pool.statistics.allocations == 2)
        #expect(pool.statistics.exhaustions == 1)
        held.removeLast()
        _ = try pool.makeBuffer(size: vga).publish()
        #expect(pool.statistics.allocations == 2)
    }

    @Test("A draft that is never published returns its memory")
    func abandonedDraft() throws {
        let pool = I420BufferPool(capacity: 1)
        for _ in 0..<3 {
            let draft = try pool.makeBuffer(size: vga)
            #expect(draft.size == vga)
        }
        #expect(pool.statistics.inUse == 0)
        #expect(pool.statistics.allocations == 1)
    }

    @Test("A change of size frees waiting buffers, and late returns are freed too")
    func sizeChange() throws {
        let pool = I420BufferPool(capacity: 3)
        let small = ImageSize(width: 320, height: 240)
        var late: I420Buffer? = try pool.makeBuffer(size: vga).publish()
        _ = try pool.makeBuffer(size: vga).publish()
        #expect(pool.statistics.idle == 1)

        let first = try pool.makeBuffer(size: small).publish()
        #expect(first.size == small)
        #expect(pool.statistics.idle == 0)
        #expect(pool.statistics.inUse == 2)

        #expect(late?.size == vga)
        late = nil
        #expect(pool.statistics.idle == 0)
        #expect(pool.statistics.inUse == 1)
    }

    @Test("Pictures of an earlier size count towards the limit while they are held")
    func boundAcrossSizes() throws {
        let pool = I420BufferPool(capacity: 1)
        let held = try pool.makeBuffer(size: vga).publish()
        let error = #expect(throws: InletError.self) {
            _ = try pool.makeBuffer(size: ImageSize(width: 2, height: 2)).publish()
        }
        #expect(error?.code == .resourceExhausted)
        #expect(held.size == vga)
    }

    @Test("Buffers outlive their pool")
    func outlivesPool() throws {
        weak var gonePool: I420BufferPool?
        let buffer = try {
            let pool = I420BufferPool(capacity: 2)
            gonePool = pool
            var draft = try pool.makeBuffer(size: vga)
            draft.fill(y: 77, u: 1, v: 2)
            return draft.publish()
        }()
        #expect(gonePool == nil)
        #expect(buffer.row(479, of: .y)[639] == 77)
        #expect(buffer.row(239, of: .v)[319] == 2)
    }

    @Test("A capacity below one counts as one, and an impossible size is refused")
    func edges() throws {
        let pool = I420BufferPool(capacity: -5)
        #expect(pool.capacity == 1)
        let error = #expect(throws: InletError.self) {
            _ = try pool.makeBuffer(size: ImageSize(width: 0, height: 5)).publish()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(pool.statistics.exhaustions == 0)
        _ = try pool.makeBuffer(size: vga).publish()
    }

    @Test("Many threads share a pool within its bound, and no two write to the same picture")
    func concurrency() async throws {
        let pool = I420BufferPool(capacity: 6)
        let sizes = [ImageSize(width: 64, height: 48), ImageSize(width: 66, height: 48)]
        let mixedUp = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<6 {
                group.addTask {
                    var mixedUp = 0
                    for round in 0..<400 {
                        // Never more than six are out, so none is refused.
                        var draft = try pool.makeBuffer(size: sizes[round / 50 % 2])
                        let mark = UInt8(truncatingIfNeeded: task * 40 + round % 40)
                        draft.fill(y: mark, u: mark, v: mark)
                        await Task.yield()
                        let row = draft.publish()
                        if row.row(47, of: .y)[63] != mark || row.row(0, of: .v)[0] != mark { mixedUp += 1 }
                    }
                    return mixedUp
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(mixedUp == 0)
        #expect(pool.statistics.inUse == 0)
        #expect(pool.statistics.idle <= 6)
        #expect(pool.statistics.exhaustions == 0)
    }
}

import ReferenceTools
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    @Test("Many concurrent waits end when their conditions hold")
    func holds() async {
        let count = Count()
        await withTaskGroup { group in
            for limit in 1...200 {
                group.addTask { await Waiting.until { count.value.load(ordering: .relaxed) >= limit } }
            }
            for _ in 1...200 { count.value.add(1, ordering: .relaxed) }
        }
    }

    @Test("A wait ends without an issue when its task is cancelled, before or during the wait")
    func cancellation() async {
        let checks = Count()
        let task = Task {
            await Waiting.until {
                checks.value.add(1, ordering: .relaxed)
                return false
            }
        }
        await Waiting.until { checks.value.load(ordering: .relaxed) > 2 }
        task.cancel()
        await task.value
        let late = Task { await Waiting.until { false } }
        late.cancel()
        await late.value
    }
}

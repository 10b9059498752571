import Dispatch
package import InletCore

extension CaptureClock {
    /// Suspends for a while, or until the task is cancelled.
    package func sleep(for duration: Duration) async {
        let over = Completion<Void>()
        let timer = makeTimer(on: DispatchQueue(label: "inlet.sleep")) { over.resolve(()) }
        timer.set(for: now + duration, leeway: duration / 20)
        await withTaskCancellationHandler {
            await over.value()
        } onCancel: {
            over.resolve(())
        }
        timer.cancel()
    }
}

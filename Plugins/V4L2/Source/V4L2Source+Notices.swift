import InletCore
import InletV4L2
import Logging

/// Notices about properties of the pictures that may surprise users.
extension V4L2Source {
    func sayThatItIsSlow(_ rate: Double, _ camera: Camera, _ context: SourceContext) {
        let tenths = (rate * 10).rounded() / 10
        context.logger.notice(
            """
            The camera delivers \(tenths) frames per second instead of \(camera.rate?.description ?? "more"). In dim light many cameras lengthen the \
            exposure. The control \(V4L2Control.exposurePriority)=0 keeps the rate, if the camera has it.
            """)
    }
}

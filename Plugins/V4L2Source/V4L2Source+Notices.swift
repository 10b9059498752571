import InletCore
import InletV4L2
import Logging

/// Notices about a picture that may surprise users.
extension V4L2Source {
    func sayThatItIsSlow(_ rate: Double, _ camera: Camera, _ context: SourceContext) {
        let tenths = (rate * 10).rounded() / 10
        context.logger.notice(
            """
            The camera gives \(tenths) frames a second instead of \(camera.rate?.description ?? "more"): in dim light many lengthen the \
            exposure. The control \(V4L2Control.exposurePriority)=0 keeps the rate, where the camera has it.
            """)
    }
}

import Glibc
import InletCore
import Testing

@testable import InletV4L2

@Suite struct V4L2ErrorTests {
    @Test(
        "Each errno gets the error code that the bridge needs, and a helpful message",
        arguments: [
            (EBUSY, "VIDIOC_STREAMON", InletError.Code.busy, "Another program"),
            (EACCES, "open", .permissionDenied, "group video"),
            (EPERM, "open", .permissionDenied, "group video"),
            (ENOENT, "open", .notFound, "inlet devices"),
            (ENXIO, "open", .notFound, "no driver"),
            (ENODEV, "open", .notFound, "no driver"),
            (ENODEV, "VIDIOC_DQBUF", .disconnected, "unplugged"),
            (ENXIO, "read", .disconnected, "unplugged"),
            (ENOSPC, "VIDIOC_STREAMON", .noBandwidth, "USB bus"),
            (EIO, "VIDIOC_DQBUF", .inputOutput, "dmesg"),
            (ENOTTY, "VIDIOC_QUERYCAP", .unsupported, "not a video device"),
            (EINVAL, "VIDIOC_S_FMT", .unsupported, "refuses"),
            (EINVAL, "VIDIOC_STREAMON", .inputOutput, "refuses to stream"),
            (ENOMEM, "VIDIOC_REQBUFS", .resourceExhausted, "memory"),
            (EMFILE, "open", .resourceExhausted, "ulimit"),
            (EPROTO, "VIDIOC_DQBUF", .inputOutput, "cable"),
            (ENOLINK, "VIDIOC_QUERY_DV_TIMINGS", .disconnected, "signal"),
        ])
    func table(number: Int32, operation: String, code: InletError.Code, words: String) {
        let error = InletError(v4l2: number, operation: operation, node: "/dev/video7") { _ in [] }
        #expect(error.code == code)
        #expect(error.message.contains(words))
        #expect(error.message.contains("\(operation) on /dev/video7"))
        #expect(error.context.nativeCode == number)
    }

    @Test("The error of a busy device names the processes that hold it")
    func holders() {
        func message(_ names: [String]) -> String {
            InletError(v4l2: EBUSY, operation: "VIDIOC_S_FMT", node: "/dev/video0") { _ in names }.message
        }
        #expect(message(["obs (process 4711)"]).contains("obs (process 4711) holds it"))
        #expect(
            message(["obs (process 4711)", "cheese (process 12)"]).contains(
                "obs (process 4711) and cheese (process 12) hold it"))
        #expect(message([]).contains("fuser"))
    }

    @Test("The holders are looked up only for a busy device")
    func looksUpLittle() {
        _ = InletError(v4l2: EIO, operation: "read", node: "/dev/video0") { _ in
            Issue.record("the holders were looked up")
            return []
        }
    }
}

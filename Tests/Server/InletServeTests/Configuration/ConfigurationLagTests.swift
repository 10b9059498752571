import Inlet
import InletServe
import Testing

/// The maximum delay of pictures: the key of a camera and of the defaults, and the option of a source.
@Suite struct ConfigurationLagTests {
    @Test("A URI's own option comes first, then the camera's key, then that of the defaults, if the source has it")
    func order() throws {
        let read = try ConfigurationReaderTests.read(
            """
            defaults: {maximum-lag: 400ms}
            cameras:
              pattern: "pattern:"
              other: rtsp://camera/main
              query: rtsp://camera/main?transport=tcp
              password: rtsp://admin:what?@camera/main
              own: {source: "rtsp://camera/main", maximum-lag: 1s}
              uri: {source: "rtsp://camera/main?maximum-lag=0s&transport=tcp", maximum-lag: 1s}
            """)
        #expect(
            read.cameras.mapValues(\.source) == [
                "pattern": "pattern:", "other": "rtsp://camera/main?maximum-lag=400ms",
                "query": "rtsp://camera/main?transport=tcp&maximum-lag=400ms",
                "password": "rtsp://admin:what?@camera/main?maximum-lag=400ms",
                "own": "rtsp://camera/main?maximum-lag=1s",
                "uri": "rtsp://camera/main?maximum-lag=0s&transport=tcp",
            ])
    }

    @Test("A camera's own key is an error if its source lacks the option, or if it is not a time")
    func refusals() {
        let none = ConfigurationReaderTests.complaints("cameras: {a: {source: 'pattern:', maximum-lag: 1s}}")
        #expect(none.count == 1, "\(none)")
        #expect(none.first?.contains("cameras.a.maximum-lag: ") == true && none[0].contains("'maximum-lag'"), "\(none)")
        let soon = ConfigurationReaderTests.complaints("cameras: {a: {source: 'rtsp://b/c', maximum-lag: soon}}")
        #expect(soon.count == 1 && soon[0].contains("a time above zero and up to 60s"), "\(soon)")
        let long = ConfigurationReaderTests.complaints("defaults: {maximum-lag: 2h}\ncameras: {a: 'rtsp://b/c'}")
        #expect(long.count == 1 && long[0].contains("up to 60s"), "\(long)")
    }
}

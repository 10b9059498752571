import InletCore
import InletRTSP
import Testing

@Suite struct SDPTests {
    private static func sdp(_ text: String) -> SDP { SDP(Array(text.utf8)) }

    private static func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test(
        "The descriptions of cameras are understood",
        arguments: SDPCamera.gortsplib1 + SDPCamera.gortsplib2 + SDPCamera.gortsplib3)
    func camera(_ camera: SDPCamera) {
        for lineEnd in ["\n", "\r\n", "\r\n\r\n", " \r\n"] {
            let lines = camera.text.split(atByte: "\n")
            let sdp = Self.sdp(lines.joined(separator: lineEnd))
            let media = sdp.media.map {
                "\(Self.text($0.kind) ?? ""):\($0.payloadTypes.map(String.init).joined(separator: "+"))"
            }
            #expect(media.joined(separator: " ") == camera.media.lowercasedASCII)
            guard let payloadType = camera.payloadType else {
                #expect(sdp.video() == nil)
                continue
            }
            let video = sdp.video()
            #expect(video?.payloadType == payloadType)
            #expect(Self.text(video?.encodingName) == camera.encoding)
            #expect(video?.clockRate == camera.clockRate)
            #expect(Self.text(video?.control) == camera.control)
            #expect(video?.parameterSets.map(\.count) == camera.sizes)
        }
    }

    @Test(
        "An impossible clock rate is replaced by that of all video formats, and any other is as stated",
        arguments: [
            ("90000", 90_000), ("0", 90_000), ("1", 90_000), ("999", 90_000), ("1000", 1000), ("30000", 30_000),
            ("1000000000", 1_000_000_000), ("1000000001", 90_000), ("99999999999999999999", 90_000), ("-1", 90_000),
            ("", 90_000), ("x", 90_000),
        ])
    func clockRate(_ stated: String, _ expected: Int) {
        let video = Self.sdp("m=video 0 RTP/AVP 96\na=rtpmap:96 MP4V-ES/\(stated)\n").video()
        #expect(video?.clockRate == expected)
    }

    /// A line that broke another client, with the values that must be read in spite of it. From AlexxIT/go2rtc,
    /// pkg/rtsp/rtsp_test.go at dc1685e (MIT licence, copyright Alexey Khit).
    private static let go2rtc: [(text: String, media: Int, sets: [[UInt8]], control: String)] = [
        (
            """
            v=0
            s=RtspServer
            a=control:*
            m=video 0 RTP/AVP 96
            s=RtspServer
            a=control:track0
            a=rtpmap:96 H264/90000
            a=fmtp:96 packetization-mode=1;profile-level-id=42001E;sprop-parameter-sets=Z0IAHvQCgC3I,aM48gA==
            a=control:track0
            m=audio 0 RTP/AVP 97
            s=RtspServer
            """, 2, [[0x67, 0x42, 0, 0x1E, 0xF4, 2, 0x80, 0x2D, 0xC8], [0x68, 0xCE, 0x3C, 0x80]], "track0"
        ),
        (
            """
            v=0
            m=video 0 RTP/AVP 96
            a=rtpmap:96 H264/90000
            a=control:track0
            m=audio 0 RTP/AVP 8
            a=rtpmap:0 pcma/8000/1
            a=control:track1
            a=framerate:25
            a=fmtp:96 packetization-mode=1;profile-level-id=64001F;sprop-parameter-sets=Z0IAH5WoFAFuQA==,aM48gA==
            """, 2, [[0x67, 0x42, 0, 0x1F, 0x95, 0xA8, 0x14, 1, 0x6E, 0x40], [0x68, 0xCE, 0x3C, 0x80]], "track0"
        ),
        (
            """
            v=0
            o=- 1001 1 IN
            m=video 0 RTP/AVP 105
            c=IN
            a=control:rtsp://1.0.1.113/media/video2/video
            a=rtpmap:105 H264/90000
            a=fmtp:105 packetization-mode=1; sprop-parameter-sets=Z2QAFqw7UFAX/LCAAAH0AABOIEI=,aOqPLA==
            m=audio 0 RTP/AVP 0
            a=rtpmap:0 PCMA/8000
            a=rtpmap:0 PCMU/8000
            m=vana 0 RTP/AVP 108
            a=rtpmap:108 video.analysis/90000/500
            """, 3,
            [
                [
                    0x67, 0x64, 0, 0x16, 0xAC, 0x3B, 0x50, 0x50, 0x17, 0xFC, 0xB0, 0x80, 0, 1, 0xF4, 0, 0, 0x4E, 0x20,
                    0x42,
                ], [0x68, 0xEA, 0x8F, 0x2C],
            ], "rtsp://1.0.1.113/media/video2/video"
        ),
    ]

    @Test(arguments: go2rtc.indices)
    func parameterSetsAreFoundInBrokenDescriptions(_ index: Int) {
        let (text, media, sets, control) = Self.go2rtc[index]
        let sdp = Self.sdp(text)
        #expect(sdp.media.count == media)
        #expect(sdp.video()?.parameterSets == sets)
        #expect(Self.text(sdp.video()?.control) == control)
        #expect(sdp.video()?.packetizationMode == 1)
    }

    // MARK: Parameter sets

    private static let sps: [UInt8] = [0x67, 0x42, 0, 0x1E, 0xF4, 2, 0x80, 0x2D, 0xC8]
    private static let pps: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

    /// `AAAAAWdCAB70AoAtyA` is the first one with a start code before it, `aM48gAAAAAE=` the second with one after it.
    private static let spellings: [(String, [[UInt8]])] = [
        ("Z0IAHvQCgC3I,aM48gA==", [sps, pps]), ("Z0IAHvQCgC3I,aM48gA", [sps, pps]),
        ("Z0IAHvQCgC3I,aM48gA==,", [sps, pps]), (",,Z0IAHvQCgC3I", [sps]), ("", []), ("!!!,aM48gA==", [pps]),
        ("Z0IAHvQCgC3I,aM48gAAAAAE=", [sps, pps]), ("AAAAAWdCAB70AoAtyA==,aM48gA==", [sps, pps]),
        ("\"Z0IAHvQCgC3I,aM48gA==\"", [sps, pps]), ("Z0IAHvQCgC3I, aM48gA==", [sps, pps]),
        ("ZYiE,aM48gA==", [pps]),
    ]

    @Test("Each parameter set is read separately", arguments: spellings)
    func parameterSets(_ text: String, _ expected: [[UInt8]]) {
        let sdp = Self.sdp("m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\na=fmtp:96 sprop-parameter-sets=\(text)\n")
        #expect(sdp.video()?.parameterSets == expected)
    }

    @Test func hevcParameterSetsComeTogetherOrNotAtAll() {
        let sets = [("vps", "QAEMAf//"), ("sps", "QgEBAWAA"), ("pps", "RAHAcvBTJA==")]
        for missing in [nil, 0, 1, 2] as [Int?] {
            let text = sets.enumerated().filter { $0.offset != missing }
                .map { "sprop-\($0.element.0)=\($0.element.1)" }.joined(separator: "; ")
            let video = Self.sdp("m=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\na=fmtp:96 \(text)\n").video()
            #expect(video?.parameterSets.count == (missing == nil ? 3 : 0))
            #expect(video?.codec == .hevc)
        }
    }

    @Test(arguments: [("0", false), ("1", true), ("32767", true), ("x", false)])
    func decodingOrderNumbersAreThereOnlyIfStated(_ value: String, _ expected: Bool) {
        let sdp = Self.sdp("m=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\na=fmtp:96 sprop-max-don-diff=\(value)\n")
        #expect(sdp.video()?.usesDONL == expected)
    }

    // MARK: Choice and hints

    @Test(
        "A static payload type needs no rtpmap",
        arguments: [(26, "mjpeg"), (32, "mpeg2video"), (34, "h263"), (31, "h261")] as [(UInt8, String)])
    func staticTypes(_ payloadType: UInt8, _ codec: String) {
        let video = Self.sdp("m=video 0 RTP/AVP \(payloadType)\n").video()
        #expect(video?.codec?.rawValue == codec)
        #expect(video?.payloadType == payloadType)
        #expect(video?.clockRate == 90_000)
    }

    @Test func videoIsChosen() {
        let sdp = Self.sdp(
            """
            m=video 0 RTP/SAVP 96
            a=rtpmap:96 H264/90000
            m=video 0 RTP/AVP 97
            a=rtpmap:97 smart/90000
            m=video 0 RTP/AVP 98 99
            a=rtpmap:98 rtx/90000
            a=rtpmap:99 H265/90000
            """)
        #expect(sdp.video()?.payloadType == 99)
        #expect(sdp.video()?.payloadTypes == [98, 99])
        #expect(sdp.video(.at(0))?.isEncrypted == true)
        #expect(sdp.video(.at(1))?.isKnown == false)
        #expect(sdp.video(.at(3)) == nil)
    }

    @Test func transportStreamIsRecognized() {
        #expect(Self.sdp("m=video 8048 MP2T/AVP 33\n").video()?.isTransportStream == true)
        #expect(Self.sdp("m=application 0 RTP/AVP 33\n").video()?.isTransportStream == true)
    }

    @Test(
        "The size is a hint with several spellings",
        arguments: [
            "x-dimensions:1280,960", "framesize:96 1280-960", "cliprect:0,0,960,1280", "x-dimensions: 1280, 960",
        ])
    func dimensions(_ attribute: String) {
        let video = Self.sdp("m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\na=\(attribute)\n").video()
        #expect(video?.dimensionsHint == ImageSize(width: 1280, height: 960))
    }

    @Test(
        "An impossible rate is ignored",
        arguments: [("25", 25.0), ("29.970", 29.97), ("0", nil), ("x", nil), ("1e9", nil), ("99999", nil), ("-1", nil)]
            as [(String, Double?)])
    func frameRate(_ text: String, _ expected: Double?) {
        #expect(Self.sdp("m=video 0 RTP/AVP 96\na=framerate:\(text)\n").video()?.frameRateHint == expected)
    }

    @Test func feedbackIsOffered() {
        let plain = Self.sdp("m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\n").video()
        #expect(plain?.supportsPLI == false && plain?.supportsFIR == false)
        let profile = Self.sdp("m=video 0 RTP/AVPF 96\na=rtpmap:96 H264/90000\n").video()
        #expect(profile?.supportsPLI == true && profile?.supportsFIR == true)
        #expect(plain?.usesFeedbackProfile == false && profile?.usesFeedbackProfile == true)
        let lines = Self.sdp("m=video 0 RTP/AVP 96\na=rtcp-fb:* nack pli\na=rtcp-fb:97 ccm fir\n").video()
        #expect(lines?.supportsPLI == true && lines?.supportsFIR == false)
    }

    /// The lines are those of gst-rtsp-server 1.22 with a retransmission time of 500 ms.
    @Test func retransmissionIsOffered() {
        let lines = "a=rtpmap:96 H264/90000\na=rtpmap:97 rtx/90000\na=fmtp:97 apt=96;rtx-time=500\n"
        let offer = Self.sdp("m=video 0 RTP/AVPF 96 97\n" + lines).video()?.retransmission
        #expect(offer == .init(payloadType: 97, time: .milliseconds(500)))
        // Without feedback nothing can be requested.
        #expect(Self.sdp("m=video 0 RTP/AVP 96 97\n" + lines).video()?.retransmission == nil)
        let plain = Self.sdp("m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\na=rtcp-fb:96 nack\n").video()
        #expect(plain?.retransmission == .init())
        let ofAnother = "m=video 0 RTP/AVPF 96 97\na=rtpmap:96 H264/90000\na=rtpmap:97 rtx/90000\na=fmtp:97 apt=98\n"
        #expect(Self.sdp(ofAnother).video()?.retransmission == nil)
        let longest = Self.sdp("m=video 0 RTP/AVPF 96 97\n" + lines + "9999999999999999999\n").video()
        #expect(longest?.retransmission?.time == .milliseconds(500))
    }

    @Test func ofAStreamThatIsDescribedForTwoProfilesTheOneWithFeedbackIsChosen() {
        func video(_ control: String, _ profile: String) -> String {
            "m=video 0 \(profile) 96\na=rtpmap:96 H264/90000\na=control:\(control)\n"
        }
        let same = Self.sdp(video("stream=0", "RTP/AVP") + video("stream=0", "RTP/AVPF")).video()
        #expect(same?.usesFeedbackProfile == true)
        let encrypted = Self.sdp(video("stream=0", "RTP/AVP") + video("stream=0", "RTP/SAVPF")).video()
        #expect(encrypted?.usesFeedbackProfile == false)
        // Another stream is not another profile.
        let other = Self.sdp(video("stream=0", "RTP/AVP") + video("stream=1", "RTP/AVPF")).video()
        #expect(other.map { Self.text($0.control) } == "stream=0")
    }

    @Test(
        "The address is the last word",
        arguments: [
            ("IN IP4 239.1.2.3/16", "239.1.2.3", 16), ("IN c=IN IP4 10.0.0.1", "10.0.0.1", nil),
            ("IN 198.51.100.1", "198.51.100.1", nil), ("In IP4 1.2.3.4", "1.2.3.4", nil),
            ("IN IP6 ff02::1/3", "ff02::1", nil), ("IN", nil, nil), ("SM SM spk0_trackID2", nil, nil),
        ] as [(String, String?, Int?)])
    func connection(_ line: String, _ address: String?, _ timeToLive: Int?) {
        let connection = Self.sdp("c=\(line)\n").connection
        #expect(Self.text(connection?.address) == address)
        #expect(connection?.timeToLive == timeToLive)
        #expect(connection?.isMulticast == (address.map { $0.hasBytePrefix("239") || $0.hasBytePrefix("ff") }))
    }

    @Test func sourceFilterNamesTheSource() {
        let sdp = Self.sdp(
            "a=source-filter: incl IN IP4 * 10.175.31.17\na=tool:x\na=range:npt=0-\nm=video 0 RTP/AVP 26\n")
        #expect(Self.text(sdp.video()?.sourceFilter) == "10.175.31.17")
        #expect(Self.text(sdp.tool) == "x")
        #expect(Self.text(sdp.range) == "npt=0-")
    }

    @Test func mediaAndLinesAreBounded() {
        let many = Self.sdp(String(repeating: "m=video 0 RTP/AVP 96\na=control:x\n", count: 5000))
        #expect(many.media.count == 64)
        let parameters = String(repeating: "a=fmtp:96 a=b;c=d\n", count: 8000)
        let list = Self.sdp("m=video 0 RTP/AVP 96\n" + parameters).media.first?.parameters[96]
        #expect(list?.count == 128)
    }
}

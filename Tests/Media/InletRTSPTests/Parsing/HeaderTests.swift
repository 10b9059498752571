import InletCore
import InletRTSP
import Testing

@Suite struct HeaderTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func transport(
        _ delivery: TransportHeader.Delivery, _ change: (inout TransportHeader) -> Void = { _ in }
    ) -> TransportHeader {
        var header = TransportHeader(delivery: delivery)
        change(&header)
        return header
    }

    // MARK: Transport

    private static let udpRequest = transport(.unicast) { $0.clientPorts = .init(6000, 6001) }
    private static let tcpRequest = transport(.tcp) { $0.interleaved = .init(0, 1) }
    private static let group = transport(.multicast)

    private static func udp(
        _ client: (Int, Int), _ server: (Int, Int)?, ssrc: UInt32? = nil, source: String? = nil
    ) -> TransportHeader {
        transport(.unicast) {
            $0.clientPorts = .init(client.0, client.1)
            $0.serverPorts = server.map { TransportHeader.Pair($0.0, $0.1) }
            $0.ssrc = ssrc
            $0.source = source.map { Array($0.utf8) }
        }
    }

    private static func tcp(_ channels: (Int, Int), ssrc: UInt32? = nil) -> TransportHeader {
        transport(.tcp) {
            $0.interleaved = .init(channels.0, channels.1)
            $0.ssrc = ssrc
        }
    }

    /// bluenviron/gortsplib, pkg/headers/transport_test.go at 9b93574, MIT, as replies.
    private static let gortsplib: [(String, TransportHeader, TransportHeader)] = [
        ("RTP/AVP;unicast;client_port=3456-3457;mode=\"PLAY\"", udpRequest, udp((3456, 3457), nil)),
        (
            "RTP/AVP/UDP;unicast;client_port=3056-3057;server_port=5000-5001", udpRequest,
            udp((3056, 3057), (5000, 5001))
        ),
        (
            "RTP/AVP;multicast;destination=225.219.201.15;port=7000-7001;ttl=127", group,
            transport(.multicast) {
                $0.destination = bytes("225.219.201.15")
                $0.ports = .init(7000, 7001)
                $0.timeToLive = 127
            }
        ),
        ("RTP/AVP/TCP;interleaved=0-1", tcpRequest, tcpRequest),
        (
            "RTP/AVP/UDP;unicast;server_port=8052;client_port=14186;ssrc=0B6020AD;mode=PLAY", udpRequest,
            udp((14186, 14187), (8052, 8053), ssrc: 0x0B60_20AD)
        ),
        ("client_port=3456-3457;RTP/AVP;mode=\"PLAY\";unicast", udpRequest, udp((3456, 3457), nil)),
        (
            "RTP/AVP/UDP;unicast;client_port=14186;server_port=8052;ssrc=4317f;mode=play", udpRequest,
            udp((14186, 14187), (8052, 8053), ssrc: 0x4317F)
        ),
        (
            "RTP/AVP/UDP;unicast;client_port=14186;server_port=8052;ssrc= 4317f;mode=play", udpRequest,
            udp((14186, 14187), (8052, 8053), ssrc: 0x4317F)
        ),
        ("RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=     D93FF", tcpRequest, tcp((0, 1), ssrc: 0xD93FF)),
        (
            "RTP/AVP/UDP;unicast;source=;client_port=32560-32561;server_port=3046-3047;ssrc=45dcb578", udpRequest,
            udp((32560, 32561), (3046, 3047), ssrc: 0x45DC_B578)
        ),
        (
            "RTP/AVP;unicast;client_port=14236;source=172.16.8.2;server_port=56002;ssrc=1449463210", udpRequest,
            udp((14236, 14237), (56002, 56003), source: "172.16.8.2")
        ),
    ]

    /// Replies of servers that break rules, from bug reports of other clients.
    private static let odd: [(String, TransportHeader, TransportHeader)] = [
        ("", tcpRequest, tcpRequest), ("RTP/AVP", tcpRequest, tcpRequest),
        ("RTP/AVP;unicast;interleaved=0-1", tcpRequest, tcpRequest),
        ("RTP/AVP;interleaved=4-5", tcpRequest, tcp((4, 5))),
        ("RTP/AVP/TCP;unicast;interleaved=0", tcpRequest, tcpRequest),
        ("RTP/AVP/TCP;interleaved=8-9;ssrc=zz", tcpRequest, tcp((8, 9))),
        ("interleaved=10-11", tcpRequest, tcp((10, 11))),
        ("RTP/AVP/TCP;interleaved=256-257", tcpRequest, tcpRequest),
        ("RTP/AVP/TCP;interleaved=255", tcpRequest, tcp((255, 255))),
        (
            "RTP/AVP/TCP;unicast,interleaved=2-3;ssrc=00000001,mode=play", tcpRequest, tcp((2, 3), ssrc: 1)
        ),
        ("RTP/AVP/TCP;interleaved=2-3, RTP/AVP;unicast;client_port=1-2", tcpRequest, tcp((2, 3))),
        ("RTP/AVP;unicast;server_port=0-1", udpRequest, udp((6000, 6001), (0, 1))),
        ("RTP/AVP;unicast", udpRequest, udpRequest),
        ("RTP/AVP;unicast;server_port=99999-1;client_port=x", udpRequest, udpRequest),
        ("RTP/AVP/UDP;unicast;server_port=7-", udpRequest, udp((6000, 6001), (7, 8))),
    ]

    @Test("A reply's transport is read, and completed by the request", arguments: gortsplib + odd)
    func transport(_ value: String, _ requested: TransportHeader, _ expected: TransportHeader) {
        #expect(TransportHeader(reply: Self.bytes(value), requested: requested) == expected)
    }

    @Test func encryptionIsSeen() {
        for value in ["RTP/SAVP/TCP;interleaved=0-1", "RTP/SAVPF;unicast;client_port=1-2"] {
            #expect(TransportHeader(reply: Self.bytes(value), requested: Self.tcpRequest).isEncrypted)
        }
    }

    @Test func portsOfTheServerMeanDatagramsWhateverWasRequested() {
        let value = "RTP/AVP;unicast;client_port=1-2;server_port=3-4"
        #expect(TransportHeader(reply: Self.bytes(value), requested: Self.tcpRequest).delivery == .unicast)
    }

    // MARK: Session

    private static let sessions: [(String, String?, Int)] = [
        ("A3eqwsafq3rFASqew", "A3eqwsafq3rFASqew", 60), ("A3;timeout=47", "A3", 47), ("A3; timeout=47", "A3", 47),
        ("A3 ; Timeout = 47 ;x", "A3", 47), ("A3;timeout=0", "A3", 60), ("A3;timeout=", "A3", 60),
        ("A3;timeout=-5", "A3", 60), ("A3;timeout=30.5", "A3", 30), ("A3;timeout=99999999999999999999", "A3", 60),
        ("0xAB-+/=", "0xAB-+/=", 60), ("", nil, 60), (";timeout=3", nil, 60),
    ]

    @Test("A session has an opaque number and a time-out", arguments: sessions)
    func session(_ value: String, _ id: String?, _ timeout: Int) {
        let header = SessionHeader(Self.bytes(value))
        #expect(header?.id == id.map { Self.bytes($0) })
        if let header { #expect(header.timeout == timeout) }
    }

    // MARK: RTP-Info

    /// The first six are from bluenviron/gortsplib, pkg/headers/rtp_info_test.go at 9b93574, MIT.
    private static let infos: [(String, [RTPInfo])] = [
        (
            "url=rtsp://127.0.0.1/test.mkv/track1;seq=35243;rtptime=717574556,"
                + "url=rtsp://127.0.0.1/test.mkv/track2;seq=13655;rtptime=2848846950",
            [
                info("rtsp://127.0.0.1/test.mkv/track1", 35243, 717_574_556),
                info("rtsp://127.0.0.1/test.mkv/track2", 13655, 2_848_846_950),
            ]
        ),
        ("url=rtsp://127.0.0.1/test.mkv/track1;seq=35243", [info("rtsp://127.0.0.1/test.mkv/track1", 35243, nil)]),
        ("url=a;rtptime=717574556", [info("a", nil, 717_574_556)]),
        ("url=trackID=0;seq=12447;rtptime=12447", [info("trackID=0", 12447, 12447)]),
        ("url=a;seq=1;rtptime=2, url=b;seq=3;rtptime=4", [info("a", 1, 2), info("b", 3, 4)]),
        ("url=trackID=1;seq=55664;rtptime=254718369;ssrc=56597976", [info("trackID=1", 55664, 254_718_369)]),
        ("url=a;seq=0;rtptime=-1;", [info("a", 0, nil)]), ("url=a;seq=99999;rtptime=4294967296", [info("a", nil, nil)]),
        ("seq=1", [info("", 1, nil)]), ("", []), (",;,", []),
    ]

    private static func info(_ url: String, _ sequence: UInt16?, _ timestamp: UInt32?) -> RTPInfo {
        RTPInfo(url: bytes(url), sequence: sequence, timestamp: timestamp)
    }

    @Test("RTP-Info is read as far as it makes sense", arguments: infos)
    func rtpInfo(_ value: String, _ expected: [RTPInfo]) {
        #expect(RTPInfo.all(in: Self.bytes(value)) == expected)
    }

    // MARK: Range

    /// Those that are not nil are from RFC 2326, section 3.6 and 3.7, and bluenviron/gortsplib,
    /// pkg/headers/range_test.go at 9b93574, MIT; the seconds of the absolute times were made with `date -u +%s`.
    private static let ranges: [(String, RangeHeader?)] = [
        ("npt=123.45-125", .normalPlayTime(start: 123.45, end: 125)),
        ("npt=12:05:35.3-", .normalPlayTime(start: 43535.3, end: nil)),
        ("npt=now-", .normalPlayTime(start: nil, end: nil)), ("npt=-20", .normalPlayTime(start: nil, end: 20)),
        ("npt = 0.000 - ", .normalPlayTime(start: 0, end: nil)),
        (
            "clock=19961108T142300Z-19961108T143520Z",
            .clock(start: 847_462_980_000_000_000, end: 847_463_720_000_000_000)
        ),
        ("clock=19960213T143205Z-;time=19970123T143720Z", .clock(start: 824_221_925_000_000_000, end: nil)),
        ("clock=19961108T143720.25Z-", .clock(start: 847_463_840_250_000_000, end: nil)),
        ("clock=20240229T000000Z-", .clock(start: 1_709_164_800_000_000_000, end: nil)),
        ("smpte=10:07:00-", nil), ("clock=0-", nil),
        ("clock=19961108T142300-x", .clock(start: 847_462_980_000_000_000, end: nil)),
        ("clock=99991108T142300Z-", nil), ("npt=", nil), ("npt=x-", nil), ("npt=99:99:99-", nil), ("", nil), ("=", nil),
        ("clock=", nil),
    ]

    @Test("A range is play time or absolute time", arguments: ranges)
    func range(_ value: String, _ expected: RangeHeader?) {
        #expect(RangeHeader(Self.bytes(value)) == expected)
    }

    // MARK: Writing

    @Test func requestHasTheFormOfTheRFC() {
        let request = RTSPRequest(
            method: Self.bytes("SETUP"), uri: Self.bytes("rtsp://cam/a b"),
            headers: RTSPHeaders([("CSeq", "1"), ("X", "a\r\nInjected: b")]), body: [1])
        #expect(
            RTSPRequestWriter.bytes(of: request)
                == Self.bytes(
                    "SETUP rtsp://cam/a%20b RTSP/1.0\r\nCSeq: 1\r\nX: a  Injected: b\r\nContent-Length: 1\r\n\r\n\u{1}")
        )
    }

    @Test func publicMethodsAreRead() {
        let methods = PublicHeader.methods(in: [
            Self.bytes("OPTIONS, DESCRIBE,get_parameter"), Self.bytes(" FOO ,PLAY"),
        ])
        #expect(methods == [.options, .describe, .getParameter, .play])
    }
}

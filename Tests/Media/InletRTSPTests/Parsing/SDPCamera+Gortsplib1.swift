/// Descriptions of cameras from bluenviron/gortsplib, pkg/sdpunmarshaler/sdpunmarshaler_test.go at 9b93574 (MIT
/// licence, copyright aler9), with the values that its parser must find. The names are the issues that report them.
extension SDPCamera {
    static let gortsplib1: [SDPCamera] = [
        SDPCamera(
            name: "full", media: "audio:0 video:99",
            payloadType: 99, encoding: "H263-1998", clockRate: 90000, control: nil,
            sizes: [],
            text: #"""
                v=0
                o=jdoe 2890844526 2890842807 IN IP4 10.47.16.5
                s=SDP Seminar
                i=A Seminar on the session description protocol
                u=http://www.example.com/seminars/sdp.pdf
                e=j.doe@example.com (Jane Doe)
                p=+1 617 555-6011
                c=IN IP4 224.2.17.12/127
                b=X-YZ:128
                b=AS:12345
                t=2873397496 2873404696
                t=3034423619 3042462419
                r=604800 3600 0 90000
                z=2882844526 -3600 2898848070 0
                k=prompt
                a=candidate:0 1 UDP 2113667327 203.0.113.1 54400 typ host
                a=recvonly
                m=audio 49170 RTP/AVP 0
                i=Vivamus a posuere nisl
                c=IN IP4 203.0.113.1
                b=X-YZ:128
                k=prompt
                a=sendrecv
                m=video 51372 RTP/AVP 99
                a=rtpmap:99 h263-1998/90000
                """#),
        SDPCamera(
            name: "unordered global attributes", media: "video:96 application:106",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "?ctype=video",
            sizes: [10, 4],
            text: #"""
                v=0
                o=- 1646532490 1646532490 IN IP4 10.175.31.17
                a=control:*
                a=source-filter: incl IN IP4 * 10.175.31.17
                s=RTSP Server
                a=range:npt=0-
                t=0 0
                m=video 0 RTP/AVP 96
                c=IN IP4 0.0.0.0
                a=rtpmap:96 H264/90000
                a=fmtp:96 profile-level-id=4D001E; packetization-mode=1; sprop-parameter-sets=Z00AHpWoKAv+VA==,aO4\#
                8gA==
                a=control:?ctype=video
                a=recvonly
                m=application 0 RTP/AVP 106
                a=rtpmap:106 vnd.onvif.metadata/90000
                a=control:?ctype=app106
                a=sendonly
                """#),
        SDPCamera(
            name: "no timing", media: "video:96 audio:97",
            payloadType: 96, encoding: "H265", clockRate: 90000, control: "streamid=0",
            sizes: [24, 41, 7],
            text: #"""
                v=0
                o=jdoe 2890844526 2890842807 IN IP4 10.47.16.5
                s=SDP Seminar
                m=video 0 RTP/AVP/TCP 96
                a=rtpmap:96 H265/90000
                a=fmtp:96 sprop-vps=QAEMAf//AWAAAAMAsAAAAwAAAwB4FwJA; sprop-sps=QgEBAWAAAAMAsAAAAwAAAwB4oAKggC8c1Y\#
                gXuRZFL/y5/E/qbgQEBAE=; sprop-pps=RAHAcvBTJA==;
                a=control:streamid=0
                m=audio 0 RTP/AVP/TCP 97
                a=rtpmap:97 mpeg4-generic/44100/2
                a=fmtp:97 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=12\#
                10
                a=control:streamid=1
                """#),
        SDPCamera(
            name: "no origin", media: "video:96 audio:97",
            payloadType: 96, encoding: "H265", clockRate: 90000, control: "streamid=0",
            sizes: [24, 41, 7],
            text: #"""
                v=0
                s=SDP Seminar
                m=video 0 RTP/AVP/TCP 96
                a=rtpmap:96 H265/90000
                a=fmtp:96 sprop-vps=QAEMAf//AWAAAAMAsAAAAwAAAwB4FwJA; sprop-sps=QgEBAWAAAAMAsAAAAwAAAwB4oAKggC8c1Y\#
                gXuRZFL/y5/E/qbgQEBAE=; sprop-pps=RAHAcvBTJA==;
                a=control:streamid=0
                m=audio 0 RTP/AVP/TCP 97
                a=rtpmap:97 mpeg4-generic/44100/2
                a=fmtp:97 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=12\#
                10
                a=control:streamid=1
                """#),
        SDPCamera(
            name: "onvif specification", media: "video:26 audio:0 audio:0",
            payloadType: 26, encoding: "JPEG", clockRate: 90000, control: "rtsp://192.168.0.1/video",
            sizes: [],
            text: #"""
                v=0
                o= 2890842807 IN IP4 192.168.0.1
                s=RTSP Session with audiobackchannel
                m=video 0 RTP/AVP 26
                a=control:rtsp://192.168.0.1/video
                a=recvonly
                m=audio 0 RTP/AVP 0
                a=control:rtsp://192.168.0.1/audio
                a=recvonly
                m=audio 0 RTP/AVP 0
                a=control:rtsp://192.168.0.1/audioback
                a=rtpmap:0 PCMU/8000
                a=sendonly
                """#),
        SDPCamera(
            name: "mediamtx/75 (LiveReporter App)", media: "video:96 audio:97",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "streamid=0",
            sizes: [15, 4],
            text: #"""
                v=0
                o=-0 0 IN IP4 127.0.0.1
                s=No Name
                c=IN IP4 0.0.0.0
                t=0 0
                a=control:*
                m=video 0 RTP/AVP 96
                b=AS:253
                a=rtpmap:96 H264/90000
                a=fmtp:96 packetization-mode=1; sprop-parameter-sets=J2QAHqxWgKA9pqAgIMBA,KO48sA==; profile-level-\#
                id=64001E
                a=control:streamid=0
                m=audio 0 RTP/AVP 97
                b=AS:189
                a=rtpmap:97 MPEG4-GENERIC/48000/1
                a=fmtp:97 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexLength=3;indexDeltaLength=3;config=11\#
                8856E500
                a=control:streamid=1
                """#),
        SDPCamera(
            name: "mediamtx/85 (SONY SNC-WR630)", media: "video:105",
            payloadType: 105, encoding: "H264", clockRate: 90000, control: "trackID=1",
            sizes: [35, 6],
            text: #"""
                v=0
                o=- 12345 1 IN IP4 10.21.61.139
                s=Sony RTSP Server
                t=0 0
                a=range:npt=now-
                c=IN IP4 0.0.0.0
                m=video 0 RTP/AVP 105
                a=rtpmap:105 H264/90000
                a=control:trackID=1
                a=recvonly
                a=framerate:25.0
                a=fmtp:105 packetization-mode=1; profile-level-id=640028; sprop-parameter-sets=Z2QAKKwa0A8ARPy4CIA\#
                AAAMAgAAADLWgAtwAHJ173CPFCKg=,KO4ESSJAAAAAAAAAAA==
                """#),
        SDPCamera(
            name: "mediamtx/115 (RR bitrate)", media: "audio:96 video:96",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: nil,
            sizes: [14, 5],
            text: #"""
                v=0
                o=- 16379793953309178445 16379793953309178445 IN IP4 5c2b68da
                s=Unnamed
                i=N/A
                c=IN IP4 0.0.0.0
                t=0 0
                a=tool:vlc 3.0.11
                a=recvonly
                a=type:broadcast
                a=charset:UTF-8
                m=audio 0 RTP/AVP 96
                b=RR:0
                a=rtpmap:96 mpeg4-generic/22050
                a=fmtp:96 streamtype=5; profile-level-id=15; mode=AAC-hbr; config=1388; SizeLength=13; IndexLength\#
                =3; IndexDeltaLength=3; Profile=1;
                m=video 0 RTP/AVP 96
                b=RR:0
                a=rtpmap:96 H264/90000
                a=fmtp:96 packetization-mode=1;profile-level-id=640028;sprop-parameter-sets=J2QAKKwrQCgDzQDxImo=,K\#
                O4CXLA=;
                """#),
        SDPCamera(
            name: "mediamtx/120 (MP2T in protocol)", media: "video:33",
            payloadType: 33, encoding: "MP2T", clockRate: 90000, control: nil,
            sizes: [],
            text: #"""
                v=0
                o=- 1702415089 4281335390 IN IP4 127.0.0.1
                s=live
                t=0 0
                c=IN IP4 239.3.1.142
                a=range:clock=0-
                m=video 8048 MP2T/AVP 33
                b=AS:7655
                """#),
        SDPCamera(
            name: "mediamtx/121 (empty unicast address)", media: "video:96 audio:0",
            payloadType: 96, encoding: "H264", clockRate: 90000,
            control: "rtsp://10.10.1.30:8554/onvif2/audio/trackID=0",
            sizes: [15, 5],
            text: #"""
                v=0
                o=RTSP 16381778200090761968 16381778200090839277 IN IP4 
                s=RTSP Server
                e=NONE
                t=0 0
                a=recvonly
                a=x-dimensions:1920,1080
                m=video 0 RTP/AVP 96
                c=IN IP4 0.0.0.0
                a=rtpmap:96 H264/90000
                a=fmtp:96 packetization-mode=1;profile-level-id=64001e;sprop-parameter-sets=Z2QAHqwsaoMg5puAgICB,a\#
                O4xshs=
                a=Media_header:MEDIAINFO=494D4B4801010000040001000000000000000000000000000000000000000000000000000\#
                0000000;
                a=appversion:1.0
                b=AS:5000
                a=control:rtsp://10.10.1.30:8554/onvif2/audio/trackID=0
                m=audio 0 RTP/AVP 0
                c=IN IP4 0.0.0.0
                a=rtpmap:0 PCMU/8000/1
                b=AS:5000
                a=control:rtsp://10.10.1.30:8554/onvif2/audio/trackID=1
                """#),
        SDPCamera(
            name: "mediamtx/136 (RS bandwidth)", media: "video:96 application:96",
            payloadType: 96, encoding: "X-ASF-PF", clockRate: 1000, control: "video",
            sizes: [],
            text: #"""
                v=0
                o=- 200710060441230578 200710060441230578 IN IP4 127.0.0.1
                s=<No Title>
                c=IN IP4 0.0.0.0
                b=AS:104
                a=maxps:1250
                t=0 0
                a=control:rtsp://61.135.88.175:554/refuse/unavailable_media.wmv/
                a=etag:{CCEE392D-83DF-F4AA-130B-E8A05562CE63}
                a=range:npt=3.000-6.185
                a=type:notstridable
                a=recvonly
                m=video 0 RTP/AVP 96
                b=AS:105
                b=X-AV:100
                b=RS:0
                b=RR:0
                a=rtpmap:96 x-asf-pf/1000
                a=control:video
                a=stream:1
                m=application 0 RTP/AVP 96
                b=RS:0
                b=RR:0
                a=rtpmap:96 x-wms-rtx/1000
                a=control:rtx
                a=stream:65536
                """#),
    ]
}

/// Descriptions of cameras from bluenviron/gortsplib, pkg/sdpunmarshaler/sdpunmarshaler_test.go at 9b93574 (MIT
/// licence, copyright aler9), with the values that its parser must find. The names are the issues that report them.
extension SDPCamera {
    static let gortsplib3: [SDPCamera] = [
        SDPCamera(
            name: "gortsplib/448 (no v=0 at start)", media: "video:96",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "trackID=0",
            sizes: [],
            text: #"""
                m=video 0 RTP/AVP 96
                a=rtpmap:96 H264/90000
                a=control:trackID=0
                """#),
        SDPCamera(
            name: "mediamtx/2558 (decimal numbers in origin)", media: "video:96",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: nil,
            sizes: [19, 4],
            text: #"""
                v=0
                o=- 1698210484.879535 1698210484.879535 IN IP4 46.242.10.231:12626
                s=Playout
                m=video 0 RTP/AVP 96
                a=rtpmap:96 H264/90000
                a=fmtp:96 packetization-mode=1; profile-level-id=33; sprop-parameter-sets=Z00AM4qKUDwBE/L/4AAgAC2A\#
                gA==,aO48gA==
                """#),
        SDPCamera(
            name: "gortsplib/474 (UDP technology cameras)", media: "metadata:98",
            text: #"""
                m=metadata 0 RTP/AVP 98
                c=IN IP4 0.0.0.0
                b=AS:1000
                a=rtpmap:98 METADATA/90000
                a=control:track2
                a=x-onvif-track:track2
                a=x-bufferdelay:1.000000
                """#),
        SDPCamera(
            name: "mediamtx/2762 (Altasec NVR)", media: "video:96 audio:0 application:107",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "0",
            sizes: [45, 4],
            text: #"""
                v=0
                o=Channel1 3910280086 3910366486 IN IP4
                s=Channel1
                c=IN IP4 0.0.0.0
                t=3910280086 3910366486
                a=range:npt=0-
                a=control:*
                m=video 0 RTP/AVP 96
                a=control:0
                a=rtpmap:96 H264/90000
                a=recvonly
                a=fmtp:96 packetization-mode=1;profile-level-id=4D4016;sprop-parameter-sets=Z01AFo2NQFAX/L/4BDgEQ3\#
                AQEBQAAA+gAACcQ6GB9ACMq7y40MD6AEZV3lwo,aO44gA==
                m=audio 0 RTP/AVP 0
                a=control:1
                a=recvonly
                a=rtpmap:0 PCMU/8000
                m=application 0 RTP/AVP 107
                a=control:2
                a=recvonly
                a=rtpmap:107 METADATA/90000
                """#),
        SDPCamera(
            name: "gortsplib/501 (Avigilon cameras)", media: "audio:0 audio:0+97 video:96",
            payloadType: 96, encoding: "", clockRate: 90000, control: "rtsp://192.168.1.63/defaultPr",
            sizes: [],
            text: #"""
                v=0
                o=- 1705180917694 1705180917694 IN IP4 192.168.1.63
                s=Live
                t=0 0
                m=audio 0 RTP/AVP 0
                c=IN IP4 192.168.1.63
                a=control:rtsp://192.168.1.63/defaultPrimary/micCfg0/trackID=9?mtu=1440&streamType=u
                a=recvonly
                m=audio 0 RTP/AVP 0 97
                c=IN IP4 192.168.1.63
                c=SM SM spk0_trackID2
                a=control:rtsp://192.168.1.63/defaultPrimary/spk0/trackID=2?mtu=1440&streamType=u
                a=sendonly
                a=rtpmap:0 pcmu/8000
                a=rtpmap:97 opus/48000/2
                m=video 0 RTP/AVP 96
                c=IN IP4 192.168.1.63
                a=control:rtsp://192.168.1.63/defaultPr
                """#),
        SDPCamera(
            name: "mediamtx/2708 (Y-CAM Bullet HD)", media: "video:96",
            payloadType: 96, encoding: "MP4V-ES", clockRate: 90000, control: "trackID=1",
            sizes: [],
            text: #"""
                v=0
                o=- -1962418793961427 -1962418793961418 IN IP4 192.168.221.104
                s=Media Presentation
                e=NONE
                c=IN IP4 0.0.0.0
                b=AS:8000
                t=0 0
                a=control:*
                a=range:npt=now-
                a=mpeg4-iod: "data:application/mpeg4-iod;base64,AoDUAE8BAf/1AQOAbwABQFBkYXRhOmFwcGxpY2F0aW9uL21wZW\#
                c0LW9kLWF1O2Jhc2U2NCxBUjBCR3dVZkF4Y0F5U1FBWlFRTklCRUVrK0FBZWhJQUFIb1NBQVlCQkE9PQQNAQUABAAAAAAAAAAA\#
                AAYJAQAAAAAAAAAAAzoAAkA2ZGF0YTphcHBsaWNhdGlvbi9tcGVnNC1iaWZzLWF1O2Jhc2U2NCx3QkFTWVFTSVVFVUZQd0E9BB\#
                ICDQAAAgAAAAAAAAAABQMAAEAGCQEAAAAAAAAAAA=="
                m=video 0 RTP/AVP 96
                b=AS:8000
                a=framerate:30.0
                a=control:trackID=1
                a=rtpmap:96 MP4V-ES/90000
                a=fmtp:96 profile-level-id=245; config=000001B0F5000001B509000001000000012008D48D88032514043C14440\#
                F
                a=mpeg4-esid:201
                """#),
        SDPCamera(
            name: "mediamtx/3583 (Wisenet NVR)", media: "video:96 audio:14 text:103",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "trackID=0",
            sizes: [16, 4],
            text: #"""
                v=0
                s=DWC-MV94WiAT
                c=IN IP4 10.1.10.178
                m=video 0 RTP/AVP 96
                a=control:trackID=0
                a=rtpmap:96 H264/90000
                a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z00AMpY1QFEBf03AQEBAgA==,aO4xsg==; profile-le\#
                vel-id=4D0032
                m=audio 0 RTP/AVP 14
                a=control:trackID=1
                m=text 0 RTP/AVP 103
                a=control:trackID=2
                a=rtpmap:103 object-detection/1000
                """#),
        SDPCamera(
            name: "gortsplib/879 (AJA encoder)", media: "video:96",
            payloadType: 96, encoding: "", clockRate: 90000, control: nil,
            sizes: [],
            text: #"""
                v=0
                o=VNSDK 0 0 IN IP4 10.0.8.133
                s=aja.sdp
                c=IN IP4 10.0.8.133
                t=0 0
                r=0 0
                m=video 0 RTP/AVP 96
                """#),
        SDPCamera(
            name: "mediamtx/5008 (Uniview IPC2122LB-SF28K-A)", media: "video:105 application:107",
            payloadType: 105, encoding: "H264", clockRate: 90000, control: "rtsp://10.0.0.1/media/video1/video",
            sizes: [21, 4],
            text: #"""
                v=0
                o=- 1001 1 IN 
                s=VCP IPC Realtime stream
                m=video 0 RTP/AVP 105
                c=IN 
                a=control:rtsp://10.0.0.1/media/video1/video
                a=rtpmap:105 H264/90000
                a=fmtp:105 profile-level-id=640028; packetization-mode=1; sprop-parameter-sets=Z2QAKKw7UDwBE/LCAAA\#
                H0AAA6mEI,aOqPLA==
                a=recvonly
                m=application 0 RTP/AVP 107
                c=IN 
                a=control:rtsp://10.0.0.1/media/video1/metadata
                a=rtpmap:107 vnd.onvif.metadata/90000
                a=fmtp:107 DecoderTag=h3c-v3 RTCP=0
                a=recvonly
                """#),
        SDPCamera(
            name: "gortsplib/1025 (undisclosed cameras, ipv4)", media: "video:96",
            payloadType: 96, encoding: "", clockRate: 90000, control: nil,
            sizes: [],
            text: #"""
                v=0
                o=test 123 456 IN IP4 192.0.2.1
                s=Test SDP
                c=IN 198.51.100.1
                t=0 0
                m=video 0 RTP/AVP 96
                """#),
        SDPCamera(
            name: "gortsplib/1025 (undisclosed cameras, ipv6)", media: "video:96",
            payloadType: 96, encoding: "", clockRate: 90000, control: nil,
            sizes: [],
            text: #"""
                v=0
                o=test 123 456 IN IP6 2001:db8::1
                s=Test SDP
                c=IN 2001:db8::2
                t=0 0
                m=video 0 RTP/AVP 96
                """#),
        SDPCamera(
            name: "mediamtx/5292 (Verint cameras, IP instead of IN in origin)", media: "video:105",
            payloadType: 105, encoding: "H264", clockRate: 90000,
            control: "rtsp://192.168.1.1:554/c266233d-e0e5-414f-9c57-9ed9d187c969/Video",
            sizes: [28, 104],
            text: #"""
                v=0
                o=- 1329416390 1329416390 IP IP4 192.168.1.1
                s=EWR 52B
                a=control:rtsp://192.168.1.1:554/c266233d-e0e5-414f-9c57-9ed9d187c969
                t=0 0
                a=range:npt=now-
                a=length:npt=0
                m=video 0 RTP/AVP 105
                a=rtpmap:105 H264/90000
                a=fmtp:105 packetization-mode=1; profile-level-id=640033; sprop-parameter-sets=Z2QAM6zTAPABD7AWoCA\#
                gKAABd2AAHUwEeEQiiw==,KHuPOIJIUgwkSMLGFCsgiEMIFwgWEChxEEkyFyFkKJkEQhhAuECwgUOIhU0nSIcxTEdFMjFRyjhJ\#
                HRRAgWmiijDeMEDzmGGD8NCw6GhsREKtdevruxgv4pC+xUXxRBrQpBWEChEcJmw=
                a=request-iframe-allowed:1000
                a=control:rtsp://192.168.1.1:554/c266233d-e0e5-414f-9c57-9ed9d187c969/Video
                """#),
        SDPCamera(
            name: "gortsplib/1068 (BZBGEAR BG-VPTZ-10HSU3)", media: "meta:123",
            text: #"""
                m=meta 0 RTP/AVP 123
                b=AS:0
                a=rtpmap:123 META /0
                a=control:track=2
                """#),
    ]
}

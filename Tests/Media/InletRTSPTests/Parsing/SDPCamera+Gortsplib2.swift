/// Descriptions of cameras from bluenviron/gortsplib, pkg/sdpunmarshaler/sdpunmarshaler_test.go at 9b93574 (MIT
/// licence, copyright aler9), with the values that its parser must find. The names are the issues that report them.
extension SDPCamera {
    static let gortsplib2: [SDPCamera] = [
        SDPCamera(
            name: "mediamtx/227 (Hik Media Server)", media: "video:96",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "trackID=video",
            sizes: [23, 4],
            text: #"""
                v=0
                o=- 1109162014219182 0 IN IP4 0.0.0.0
                s=HIK Media Server V3.1.3
                i=HIK Media Server Session Description : standard
                e=NONE
                c=IN c=IN IP4 0.0.0.0
                t=0 0
                a=control:*
                a=range:npt=now-
                m=video 0 RTP/AVP 96
                i=Video Media
                a=rtpmap:96 H264/90000
                a=fmtp:96 profile-level-id=4D0014;packetization-mode=0;sprop-parameter-sets=Z01AHppmBYHv81BgYGQAAA\#
                +gAAF3ABA=,aO48gA==
                a=control:trackID=video
                a=Media_header:MEDIAINFO=494D4B4801010000040000010000000000000000000000000000000000000000000000000\#
                0000000;
                a=appversion:1.0
                """#),
        SDPCamera(
            name: "gortsplib/85 (FLIR timing)", media: "video:96+97+111+112+99",
            payloadType: 96, encoding: "MP4V-ES", clockRate: 90000, control: "rtsp://172.16.2.20/sid=96&overlay=on",
            sizes: [],
            text: #"""
                v=0
                o=- 0 0 IN IP4 172.16.2.20
                s=IR stream
                i=Live infrared
                c=IN IP4 172.16.2.20
                t=now-
                m=video 0 RTP/AVP 96 97 111 112 99
                a=control:rtsp://172.16.2.20/sid=96&overlay=on
                a=framerate:30
                a=rtpmap:96 MP4V-ES/90000
                a=framesize:96 640-480
                a=fmtp:96 profile-level-id=1;config=000001B002000001B59113000001000000012000C888800F514043C14103
                a=rtpmap:97 MP4V-ES/90000
                a=framesize:97 320-240
                a=fmtp:97 profile-level-id=1;config=000001B002000001B59113000001000000012000C888800F50A041E14103
                a=rtpmap:111 H264/90000
                a=framesize:111 640-480
                a=fmtp:111 profile-level-id=42001E;packetization-mode=1;sprop-parameter-sets=Z0IAHqtAUB7I,aM4xEg==
                a=rtpmap:112 H264/90000
                a=framesize:112 320-240
                a=fmtp:112 profile-level-id=42001E;packetization-mode=1;sprop-parameter-sets=Z0IAHqtAoPyA,aM4xEg==
                a=rtpmap:99 FCAM/90000
                a=framesize:99 320-240
                a=fmtp:99 sampling=mono; width=320; height=240; depth=16
                """#),
        SDPCamera(
            name: "gortsplib/116 (IOI trk-101)", media: "video:96",
            payloadType: 96, encoding: "MP4V-ES", clockRate: 1000, control: "video",
            sizes: [],
            text: #"""
                v=0
                o=- 1 1 IN IP4 127.0.0.1 
                s=RTP session
                e=NONE
                t=0 0
                m=video 0 RTP/AVP 96
                a=rtpmap:96 MP4V-ES/1000
                a=fmtp:96 profile-level-id=245; config=000001B0F5000001B509000001000000012000845D4C28582120A31F
                a=framerate:25
                a=x-dimensions:352,288
                a=x-algoTarget:P
                a=control:video
                """#),
        SDPCamera(
            name: "mediamtx/948 (TIAS bitrate)", media: "video:96",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "trackid=1",
            sizes: [11, 4],
            text: #"""
                v=0
                o=- 1681692777 1681692777 IN IP4 127.0.0.1
                s=Video Stream
                c=IN IP4 127.0.0.1
                t=0 0
                a=control:*
                m=video 0 RTP/AVP 96
                b=TIAS:10000
                a=maxprate:2.0000
                a=control:trackid=1
                a=rtpmap:96 H264/90000
                a=mimetype:string;"video/H264"
                a=framesize:96 384-832
                a=Width:integer;384
                a=Height:integer;832
                a=fmtp:96 packetization-mode=1;profile-level-id=64001f;sprop-parameter-sets=J2QAH6xWwYBp+kA=,KO48s\#
                A==
                """#),
        SDPCamera(
            name: "mediamtx/990 (TP-Link)", media: "video:96 audio:8 application/TP-LINK:",
            payloadType: 96, encoding: "H265", clockRate: 90000, control: "track1",
            sizes: [24, 44, 7],
            text: #"""
                v=0
                o=- 14665860 31787219 1 IN IP4 192.168.4.226
                s=Session streamed by "TP-LINK RTSP Server"
                t=0 0
                m=video 0 RTP/AVP 96
                c=IN IP4 0.0.0.0
                b=AS:4096
                a=range:npt=0-
                a=control:track1
                a=rtpmap:96 H265/90000
                a=fmtp:96 profile-space=0;profile-id=1;tier-flag=0;level-id=150;interop-constraints=000000000000;s\#
                prop-vps=QAEMAf//AWAAAAMAAAMAAAMAAAMAlqwJ;sprop-sps=QgEBAWAAAAMAAAMAAAMAAAMAlqABICAFEWNrkkya5ZwCAA\#
                ADAAIAAAMAHhA=;sprop-pps=RAHgdrAmQA==
                m=audio 0 RTP/AVP 8
                a=rtpmap:8 PCMA/8000
                a=control:track2
                m=application/TP-LINK 0 RTP/AVP smart/1/90000
                a=rtpmap:95 TP-LINK/90000
                a=control:track3
                """#),
        SDPCamera(
            name: "mediamtx/1119 (fritzbox 6660 Cable)", media: "video:33",
            payloadType: 33, encoding: "MP2T", clockRate: 90000, control: "stream=1",
            sizes: [],
            text: #"""
                v=0
                o=- 224 1 IN IP4 192.168.178.1
                s=SatIPServer:1 0,0,4
                t=0 0
                m=video 0 RTP/AVP 33
                c=In IP4 0.0.0.0
                a=control:stream=1
                a=fmtp:33 ver=1.2;src=1;tuner=1,240,1,7,112,,dvbc,,,,6900,34;pids=0,16,17,18,20
                a=sendonly
                """#),
        SDPCamera(
            name: "gortsplib/201 (invalid origin)", media: "video:96 audio:97",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "track1",
            sizes: [16, 4],
            text: #"""
                v=0
                o=JefferyZhang Inno Fuzhou 0 0 IN IP4 127.0.0.1
                s=RbsLive
                c=IN IP4 0.0.0.0
                t=0 0
                a=tool:libmpp at 2.0.1
                m=video 0 RTP/AVP 96
                a=rtpmap:96 H264/90000
                a=fmtp:96 profile-level-id=64C028;sprop-parameter-sets=Z2TAKKwa0A8ARPywDwiEag==,aO48sA==
                a=control:track1
                m=audio 0 RTP/AVP 97
                a=rtpmap:97 MPEG4-GENERIC/48000/2
                a=fmtp:97 profile-level-id=15;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1\#
                190
                a=control:track2
                """#),
        SDPCamera(
            name: "gortsplib/271 (Mercury cameras)", media: "video:96 audio:8 application/MERCURY:",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "track1",
            sizes: [33, 4],
            text: #"""
                v=0
                o=- 14665860 31787219 1 IN IP4 192.168.0.60
                s=Session streamed by "MERCURY RTSP Server"
                t=0 0
                a=smart_encoder:virtualIFrame=1
                m=video 0 RTP/AVP 96
                c=IN IP4 0.0.0.0
                b=AS:4096
                a=range:npt=0-
                a=control:track1
                a=rtpmap:96 H264/90000
                a=fmtp:96 packetization-mode=1; profile-level-id=4D001F; sprop-parameter-sets=J00AH+dAKALdgKUFBQXw\#
                AAADABAAAAMCi2gD6AXf//wK,KO48gA==
                m=audio 0 RTP/AVP 8
                a=rtpmap:8 PCMA/8000
                a=control:track2
                m=application/MERCURY 0 RTP/AVP smart/1/90000
                a=rtpmap:95 MERCURY/90000
                a=control:track3
                """#),
        SDPCamera(
            name: "mediamtx/2128 (Vurix NVR)", media: "video:96",
            payloadType: 96, encoding: "H264", clockRate: 90000, control: "rtsp://10.10.10.10:5556/vurix/1414/0/video",
            sizes: [49, 4],
            text: #"""
                v=0
                o=- 1 1 IN IPV4 10.10.10.10
                s=Media Presentation
                c=IN IPV4 0.0.0.0
                t=0 0
                a=control:*
                a=range:npt=now-
                m=video 0 RTP/AVP 96
                a=control:rtsp://10.10.10.10:5556/vurix/1414/0/video
                a=rtpmap:96 H264/90000
                a=fmtp:96 packetization-mode=1;profile-level-id=64001F;sprop-parameter-sets=Z2QAKKwbGoB4AiflwFuAgI\#
                CgAAB9AAATiB0MAEr4AAL68F3lxoYAJXwAAX14LvLhQA==,aO48MA==
                a=recvonly
                """#),
        SDPCamera(
            name: "mediamtx/2473 (no session name)", media: "video:96 audio:8",
            payloadType: 96, encoding: "H265", clockRate: 90000, control: "trackID=3",
            sizes: [24, 44, 7],
            text: #"""
                v=0
                o=- 38990265062388 38990265062388 IN IP4 192.168.1.10
                a=range:npt=0-
                m=video 0 RTP/AVP 96
                c=IN IP4 0.0.0.0
                a=rtpmap:96 H265/90000 
                a=fmtp:96 sprop-vps=QAEMAf//AWAAAAMAAAMAAAMAAAMAlqwJ; sprop-sps=QgEBAWAAAAMAAAMAAAMAAAMAlqABICAFEW\#
                Nrkk5TNwEBAQQAAEZQAAV+QoQ=; sprop-pps=RAHA8vAiQA==
                a=control:trackID=3
                m=audio 0 RTP/AVP 8
                a=control:trackID=4
                a=rtpmap:8 PCMA/8000
                """#),
    ]
}

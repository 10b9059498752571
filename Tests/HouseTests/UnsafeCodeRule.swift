/// Unsafe code stands in buffer types and named owner types, and nowhere else; `@unchecked Sendable` counts as such.
///
/// The compiler wants `unsafe` in front of every unsafe expression, so the word shows where such code is.
enum UnsafeCodeRule {
    /// The folders and files that may hold unsafe code, each with the reason.
    ///
    /// A folder, which ends with a slash, stands for the files in it: where at least half of them hold unsafe code, as
    /// what wraps a C library does, one more is no news. Elsewhere files are named, so that what reads bytes from
    /// outside stays safe beside what owns pointers. What no longer holds unsafe code must leave the list.
    static let allowed: [String: String] = [
        "Plugins/FFmpegSink/FFmpegPacketSink.swift": "makes a folder",
        "Plugins/FFmpegSink/FileSeries.swift": "deletes files",
        "Plugins/FFmpegSink/Muxer.swift": "owns a libavformat output",
        "Plugins/FFmpegSink/OutputDeadline.swift": "libavformat's interrupt callback",
        "Plugins/FFmpegSink/RecordingFile.swift": "owns a descriptor and libavformat's view of it",
        "Plugins/FFmpegSink/SRTLogging.swift": "libsrt's log callback",
        "Plugins/FFmpegSink/SRTOutput.swift": "owns a socket of libsrt and libavformat's view of it",
        "Plugins/FFmpegSink/SRTTrouble.swift": "libsrt's text of an error",
        "Plugins/FFmpegSink/SegmentFolder.swift": "libavformat's callbacks for the files that a muxer makes by itself",
        "Plugins/FFmpegSink/SocketAddress.swift": "asks the name service, and keeps its answers",
        "Plugins/FFmpegSink/ThreadScheduling.swift": "asks and sets the scheduling of threads",
        "Plugins/FFmpegSource/AVFormatContext+Facts.swift": "reads what an input says of itself",
        "Plugins/FFmpegSource/AccessUnitAssembler.swift":
            "owns a libavcodec parser, and reads the first bytes of packets",
        "Plugins/FFmpegSource/Demuxer+Facts.swift": "reads what that input says of its stream",
        "Plugins/FFmpegSource/Demuxer.swift": "owns a libavformat input",
        "Plugins/FFmpegSource/DemuxerInput.swift": "takes libavformat's context of an input",
        "Plugins/FFmpegSource/FFmpegOptionNames.swift": "reads libavformat's tables of options",
        "Plugins/FFmpegSource/FileInput.swift": "makes a libavformat input of a file",
        "Plugins/FFmpegSource/HTTPAddress.swift": "owns libcurl's parser of an address",
        "Plugins/FFmpegSource/HTTPInput+AVIO.swift": "owns libavformat's view of an input",
        "Plugins/FFmpegSource/HTTPInput.swift": "moves what it has read into libavformat's memory",
        "Plugins/FFmpegSource/HTTPSession.swift": "owns libcurl's connections and cookies",
        "Plugins/FFmpegSource/HTTPTransfer.swift": "owns a transfer of libcurl, and what its callbacks hold",
        "Plugins/FFmpegSource/Interruption.swift": "libavformat's interrupt callback",
        "Plugins/FFmpegSource/NestedInputs.swift": "libavformat's callbacks for what an input opens besides itself",
        "Plugins/FFmpegSource/NetworkConnection.swift": "makes a libavformat input",
        "Plugins/FFmpegSource/NetworkInput.swift": "makes a libavformat input of a network stream",
        "Plugins/FFmpegSource/OpeningJob.swift": "owns an input while it is opened on a thread of its own",
        "Plugins/FFmpegSource/PipeInput.swift": "owns a descriptor and libavformat's view of it",
        "Plugins/FFmpegSource/SegmentCipher.swift": "owns libavutil's AES state",
        "Plugins/FFmpegSource/StreamAnalysis.swift": "libavformat's options for decoders, one dictionary a stream",
        "Plugins/FileSinks/MD5Digest.swift": "owns libavutil's MD5 state",
        "Plugins/InjectSource/FrameInjector+Copying.swift": "copies pictures that have no owner",
        "Plugins/PatternSource/I420Draft+Drawing.swift": "fills rows of a draft",
        "Plugins/PipeSink/ChildProcess.swift": "starts a program and owns its pipes",
        "Plugins/PipeSink/ExecSink.swift": "the list of memory that one write takes",
        "Plugins/PipeSink/SharedMemoryFile.swift": "owns a file of shared memory",
        "Plugins/PipeSink/SharedMemorySegment.swift": "owns a mapped segment",
        "Plugins/ScreenSource/CastLease.swift": "owns memory that a compositor shares",
        "Plugins/ScreenSource/CastStream.swift": "owns a stream of libpipewire",
        "Plugins/ScreenSource/PortalSession.swift": "owns a connection of sd-bus",
        "Plugins/ScreenSource/ScreenPicture.swift": "owns memory that an X server shares",
        "Plugins/ScreenSource/XAnswer.swift": "owns what libxcb read of a server",
        "Plugins/ScreenSource/XConnecting.swift": "hands a connection of libxcb from thread to thread",
        "Plugins/ScreenSource/XServer.swift": "owns a connection of libxcb",
        "Plugins/TurboJPEGDecoder/": "wraps libjpeg-turbo",
        "Plugins/V4L2Sink/OutputDevice.swift": "fills the buffers of an output device",
        "Plugins/V4L2Source/BlockPool.swift": "owns the memory of pictures that could not stay with the driver",
        "Plugins/V4L2Source/Camera.swift": "owns an opened camera: reads and polls its descriptor",
        "Plugins/V4L2Source/CapturePicture.swift": "finds the planes of a picture in a driver's buffers",
        "Plugins/V4L2Source/CaptureQueue+Bytes.swift": "finds a picture's bytes in a driver's buffers",
        "Plugins/V4L2Source/CaptureQueue.swift": "hands buffers to the driver and takes them back",
        "Plugins/V4L2Source/CompressedStream.swift": "copies compressed pictures from a driver's buffers",
        "Plugins/V4L2Source/PixelRepacking.swift": "rewrites rows of a picture",
        "Plugins/V4L2Source/V4L2Source.swift": "makes frames of a driver's buffers",
        "Plugins/RTSPSource/Capture/CaptureFile.swift": "owns a descriptor",
        "Plugins/RTSPSource/Connection/": "wraps the system's calls for sockets, and OpenSSL's connections",
        "Plugins/RTSPSource/ONVIF/DeviceDiscovery.swift": "owns sockets that ask for devices",
        "Plugins/V4L2Source/VendorConverter.swift": "owns libv4l's converter of pixel formats",
        "Plugins/WebRTCSink/EngineSession.swift": "state of one queue",
        "Plugins/WebRTCSink/SourcePackets.swift": "a packet sink, called on one thread at a time",
        "Plugins/WebRTCSink/ViewerPipeline.swift": "asks GStreamer for its elements",
        "Sources/Inlet/LocalAccess+System.swift": "reads the environment",
        "Sources/InletCommand/Interrupt.swift": "a count of one queue",
        "Sources/InletCommand/SharedMemoryReturn.swift": "reads a file of shared memory",
        "Sources/InletCommand/Terminal.swift": "writes to standard error and asks for resource usage",
        "Sources/InletCapture/Delivery/SinkDelivery.swift": "a sink, touched on its thread alone",
        "Sources/InletCapture/Packets/PacketLane.swift": "a packet sink, touched on its thread alone",
        "Sources/InletCapture/Statistics/AtomicCounters.swift": "owns the memory of counters",
        "Sources/InletCapture/Timeline/SystemClock.swift": "sleeps in poll",
        "Sources/InletCapture/Tracing/ChromeTraceWriter.swift": "a file, touched on its queue alone",
        "Sources/InletConvert/": "calls libyuv, libswscale and loops in C with the planes of checked pictures",
        "Sources/InletCore/Encoding/PacketData.swift":
            "a packet's bytes: a pointer into memory that an owner keeps alive",
        "Sources/InletCore/Pictures/I420Buffer.swift": "the buffer type: hands out the memory it wraps as spans",
        "Sources/InletCore/Pictures/I420Draft.swift": "the buffer type while it is written",
        "Sources/InletCore/Pictures/I420Memory.swift": "allocates, owns and frees a picture's memory",
        "Sources/InletCore/Sources/SourcePlane.swift":
            "a native plane: a pointer into memory that the frame's owner keeps alive",
        "Sources/InletCore/Sources/SourcePlanes.swift": "hands out the planes of a picture",
        "Sources/InletDecode/PacketReader.swift": "hands a source from thread to thread",
        "Sources/InletFFmpeg/": "wraps libav: owns its objects, reads its tables",
        "Sources/InletHTTP/ClientAddress.swift": "reads the bytes of a socket's address",
        "Sources/InletHTTP/PictureHub.swift": "copies an encoded picture",
        "Sources/InletOutput/": "wraps the system's calls for files, and owns memory on its way to them",
        "Sources/InletPluginHost/": "calls the functions of a plug-in, reads its structs, and closes the process off",
        "Sources/InletPlugins/InProcess/": "calls plug-ins in C, and owns what passes between them and Inlet",
        "Sources/InletPlugins/Process/CancelSignal.swift": "owns a pipe",
        "Sources/InletPlugins/Process/CopiedPicture.swift": "owns a copy of a picture",
        "Sources/InletPlugins/Process/FormatNames.swift": "compares fixed arrays of C",
        "Sources/InletPlugins/Process/PluginProcess.swift": "wraps the system's calls for processes",
        "Sources/InletPlugins/Process/PluginProgram.swift": "reads a link of the kernel's",
        "Sources/InletPlugins/Process/Polling.swift": "waits in poll",
        "Sources/InletPlugins/Process/ProcessSinkInstance.swift": "copies pictures and packets into shared memory",
        "Sources/InletPlugins/Process/ProcessSource.swift": "reads pictures and packets in shared memory",
        "Sources/InletPlugins/Process/SharedSegment.swift": "owns mapped memory",
        "Sources/InletPlugins/Process/SlotPlanes.swift": "points at checked places of shared memory",
        "Sources/InletPluginKit/": "serves the tables of inlet_plugin.h: structs, pointers and memory that is lent",
        "Sources/InletPlugins/Templates/PluginTemplate+Write.swift": "writes files",
        "Sources/InletPlugins/SourceProcess/SourceServer.swift": "asks what a descriptor is",
        "Sources/InletPlugins/SourceProcess/SourceServerChannel.swift": "waits in poll",
        "Sources/InletPlugins/SourceProcess/SourceServerGuard.swift": "reads a file of the kernel's",
        "Sources/InletPlugins/SourceProcess/SourceServerSession.swift": "reads structs as bytes",
        "Sources/InletPlugins/SourceProcess/SourceSlots.swift": "owns mapped memory",
        "Sources/InletPluginWire/": "structs and fixed arrays of C, and the datagrams that carry them",
        "Sources/InletPlugins/Discovery/SystemFile.swift": "reads small files, folders and the environment",
        "Sources/InletRTP/Payloads/AccessUnitBlock.swift": "owns the memory of an access unit",
        "Sources/InletRTP/Payloads/RawSpan+Array.swift": "hands out the bytes of an array",
        "Sources/InletRTP/RawSpan+BigEndian.swift": "reads checked places of received bytes",
        "Sources/InletRTP/Reception/HeldPackets.swift": "copies received bytes",
        "Sources/InletRTSP/Messages/RawSpan+Octets.swift": "reads checked places of received bytes",
        "Sources/InletServe/Adding/TryOut.swift": "copies an encoder's bytes",
        "Sources/InletServe/Configuration/YAMLParser.swift": "owns libyaml's parser",
        "Sources/InletServe/Media/RecordingFolder.swift": "makes folders and deletes files",
        "Sources/InletServe/Media/RecordingReader.swift": "owns a descriptor",
        "Sources/InletServe/Operation/ServiceEnvironment.swift": "reads the environment",
        "Sources/InletServe/Operation/AuditLog.swift": "opens and appends to a file",
        "Sources/InletServe/Operation/ServiceNotifier.swift": "owns the address of a socket",
        "Sources/InletSystem/": "wraps the system's calls for threads, clocks and events",
        "Sources/InletTesting/DescriptorSignal.swift": "owns the pipe of a manual clock's wake-up",
        "Sources/InletTesting/NativePicture.swift": "owns the memory of a scripted picture",
        "Sources/InletTesting/SinkRunner.swift": "a sink, touched on its worker's thread alone",
        "Sources/InletTesting/SourceRunner.swift": "a source, touched on its worker's thread alone",
        "Sources/InletV4L2/DeviceWatch.swift": "owns an inotify descriptor",
        "Sources/InletV4L2/PriorityWatcher.swift": "waits in poll",
        "Sources/InletV4L2/SystemFiles.swift": "reads small files, links and folders of the kernel",
        "Sources/InletV4L2/V4L2Buffer.swift": "owns a driver's mapped buffer",
        "Sources/InletV4L2/V4L2Device+Controls.swift": "calls of that device that read and set controls",
        "Sources/InletV4L2/V4L2Device+Events.swift": "calls of that device that read events",
        "Sources/InletV4L2/V4L2Device+Formats.swift": "calls of that device that read and set formats",
        "Sources/InletV4L2/V4L2Device.swift": "owns the descriptor of a device",
        "Sources/InletV4L2/V4L2Devices+Changes.swift": "a dispatch source, which any thread may cancel",
        "Plugins/WebRTCSource/Receiving/PacketInbox.swift": "copies received bytes",
        "Plugins/WebRTCSource/Receiving/ReceivingSession.swift": "state of one queue",
        "Sources/InletWebRTC/ReceivedTrack.swift": "what GStreamer's callbacks hold",
        "Sources/InletWebRTC/DataChannel.swift": "owns a data channel, and what GStreamer's callbacks hold",
        "Sources/InletWebRTC/GStreamerPeer.swift": "owns a peer's pipeline, and what GStreamer's callbacks hold",
        "Sources/InletWebRTC/GStreamerPeer+Receiving.swift": "says what of a peer's packets enters its pipeline",
        "Sources/InletTLS/TLSClientHandler.swift": "owns a connection of OpenSSL",
        "Sources/InletTLS/TLSServerCertificate.swift": "owns a context of OpenSSL",
        "Sources/InletTLS/TLSServerHandler.swift": "owns a connection of OpenSSL",
        "Sources/InletRestream/RTSPRestreamServer.swift": "owns an RTSP server, and what its callbacks hold",
        "Sources/InletWebRTC/SharedPacket.swift": "owns a reference to a packet as GStreamer has it",
    ]

    /// The lines of a text that hold the word `unsafe`, `nonisolated(unsafe)` included, or name an unsafe type
    /// outright.
    static func lines(in text: String) -> [Int] {
        SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { _, line in
                SwiftText.words(of: line).contains {
                    $0 == "unsafe" || $0 == "unchecked" || $0.hasPrefix("Unsafe")
                }
            }
            .map { $0.offset + 1 }
    }

    static func check(_ files: [HouseTree.File], allowed: [String: String]) -> [Violation] {
        var violations: [Violation] = []
        var unused = Set(allowed.keys)
        var counts: [String: (unsafe: Int, all: Int)] = [:]
        for file in files {
            let folder = String(file.path.prefix(through: file.path.lastIndex(of: "/") ?? file.path.startIndex))
            counts[folder, default: (0, 0)].all += 1
            guard let first = lines(in: file.text).first else { continue }
            counts[folder]?.unsafe += 1
            if allowed[folder] != nil {
                unused.remove(folder)
            } else if unused.remove(file.path) == nil {
                violations.append(
                    Violation(
                        path: file.path, line: first,
                        message: "unsafe code outside the folders and files listed in UnsafeCodeRule"))
            }
        }
        let mostlySafe = counts.filter { folder, count in
            allowed[folder] != nil && !unused.contains(folder) && count.unsafe * 2 < count.all
        }
        return violations
            + mostlySafe.keys.sorted().map {
                Violation(
                    path: $0, message: "fewer than half of its files hold unsafe code: name those in UnsafeCodeRule")
            }
            + unused.sorted().map {
                Violation(
                    path: $0, message: "holds no unsafe code, or stands for nothing: take it off UnsafeCodeRule's list")
            }
    }
}

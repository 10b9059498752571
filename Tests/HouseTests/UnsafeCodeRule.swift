/// Unsafe code stands in buffer types and named owner types, and nowhere else; `@unchecked Sendable` counts as such.
///
/// The compiler wants `unsafe` in front of every unsafe expression, so the word shows where such code is.
enum UnsafeCodeRule {
    /// The files that may hold unsafe code, each with the reason. A file that no longer holds any must leave the list.
    static let allowed: [String: String] = [
        "Plugins/WebRTCSink/EngineSession.swift": "state of one queue",
        "Plugins/WebRTCSink/SourcePackets.swift": "a packet sink, called on one thread at a time",
        "Sources/InletCLI/Interrupt.swift": "a count of one queue",
        "Sources/InletCapture/Delivery/SinkDelivery.swift": "a sink, touched on its thread alone",
        "Sources/InletCapture/Packets/PacketLane.swift": "a packet sink, touched on its thread alone",
        "Sources/InletCapture/Tracing/ChromeTraceWriter.swift": "a file, touched on its queue alone",
        "Sources/InletTesting/SinkRunner.swift": "a sink, touched on its worker's thread alone",
        "Sources/InletTesting/SourceRunner.swift": "a source, touched on its worker's thread alone",
        "Sources/InletV4L2/V4L2Devices+Changes.swift": "a dispatch source, which any thread may cancel",
        "Sources/Inlet/LocalAccess+System.swift": "reads small files and the environment",
        "Sources/InletCore/Pictures/I420Buffer.swift": "the buffer type: hands out the memory it wraps as spans",
        "Sources/InletCore/Pictures/I420Draft.swift": "the buffer type while it is written",
        "Sources/InletCore/Pictures/I420Memory.swift": "allocates, owns and frees a picture's memory",
        "Sources/InletConvert/DeepConversion.swift":
            "calls the loops of CInletConvert with the planes of a checked picture",
        "Sources/InletConvert/DirectConversion.swift": "calls libyuv with the planes of a checked picture",
        "Sources/InletConvert/FrameConverter.swift": "calls libyuv to scale and turn",
        "Sources/InletConvert/I420Buffer+Cropping.swift": "a part of a picture: the same memory from another address",
        "Sources/InletConvert/I420Planes.swift": "the three destination pointers of a draft",
        "Sources/InletConvert/NativeFormat.swift": "reads libavutil's description of a pixel format",
        "Sources/InletConvert/PlanarConversion.swift": "calls libyuv with the planes of a checked picture",
        "Sources/InletConvert/PlaneCopy.swift":
            "owns the scratch copy of planes that libswscale must not read in place",
        "Sources/InletConvert/SwscaleContext.swift": "owns a libswscale context",
        "Sources/InletCore/Encoding/PacketData.swift":
            "a packet's bytes: a pointer into memory that an owner keeps alive",
        "Sources/InletHTTP/ClientAddress.swift": "reads the bytes of a socket's address",
        "Sources/InletFFmpeg/BufferOwnership.swift": "lends memory to libav",
        "Sources/InletDecode/PacketReader.swift": "hands a source from thread to thread",
        "Sources/InletFFmpeg/CodecParameters+FFmpeg.swift": "writes libav's description of a stream",
        "Sources/InletFFmpeg/FFmpegVideoDecoder.swift": "lends packets to libavcodec",
        "Sources/InletFFmpeg/EncodedPacketStorage.swift": "owns a packet that others share",
        "Sources/InletFFmpeg/FFmpegEncoder.swift": "owns an encoder's codec context",
        "Sources/InletFFmpeg/PacketInspection.swift": "owns a parser for one packet",
        "Plugins/FFmpegSink/FFmpegPacketSink.swift": "makes a folder",
        "Plugins/FFmpegSink/FileSeries.swift": "deletes files",
        "Plugins/FFmpegSink/Muxer.swift": "owns a libavformat output",
        "Plugins/FFmpegSink/OutputDeadline.swift": "libavformat's interrupt callback",
        "Plugins/FFmpegSink/RecordingFile.swift": "owns a descriptor and libavformat's view of it",
        "Plugins/FFmpegSink/SegmentFolder.swift": "libavformat's callbacks for the files that a muxer makes by itself",
        "Plugins/FFmpegSink/SocketAddress.swift": "asks the name service, and keeps its answers",
        "Plugins/FFmpegSink/SRTLogging.swift": "libsrt's log callback",
        "Plugins/FFmpegSink/SRTOutput.swift": "owns a socket of libsrt and libavformat's view of it",
        "Plugins/FFmpegSink/SRTTrouble.swift": "libsrt's text of an error",
        "Plugins/FFmpegSink/ThreadScheduling.swift": "asks and sets the scheduling of threads",
        "Sources/InletFFmpeg/CertificateCheck.swift": "reads libavformat's tables of options",
        "Sources/InletFFmpeg/TLSLibrary.swift": "libavformat's text of how it was built",
        "Sources/InletFFmpeg/DisplayOrientation.swift": "reads a display matrix",
        "Sources/InletFFmpeg/FFmpegDecoder.swift": "owns a codec context",
        "Sources/InletFFmpeg/FFmpegFrame.swift": "owns a decoded frame",
        "Sources/InletFFmpeg/FFmpegLogging.swift": "libav's log callback",
        "Plugins/FFmpegSource/HTTPAddress.swift": "owns libcurl's parser of an address",
        "Plugins/FFmpegSource/HTTPInput.swift": "moves what it has read into libavformat's memory",
        "Plugins/FFmpegSource/HTTPInput+AVIO.swift": "owns libavformat's view of an input",
        "Plugins/FFmpegSource/HTTPSession.swift": "owns libcurl's connections and cookies",
        "Plugins/FFmpegSource/HTTPTransfer.swift": "owns a transfer of libcurl, and what its callbacks hold",
        "Plugins/FFmpegSource/SegmentCipher.swift": "owns libavutil's AES state",
        "Plugins/FFmpegSource/OpeningJob.swift": "owns an input while it is opened on a thread of its own",
        "Plugins/FFmpegSource/FFmpegOptionNames.swift": "reads libavformat's tables of options",
        "Plugins/FFmpegSource/Interruption.swift": "libavformat's interrupt callback",
        "Plugins/FFmpegSource/NestedInputs.swift": "libavformat's callbacks for what an input opens besides itself",
        "Plugins/FFmpegSource/NetworkConnection.swift": "makes a libavformat input",
        "Plugins/FFmpegSource/StreamAnalysis.swift": "libavformat's options for decoders, one dictionary a stream",
        "Sources/InletFFmpeg/HostLookup.swift": "asks the system for addresses, and reads those of sockets",
        "Sources/InletFFmpeg/JPEGHeader.swift": "reads the first bytes of a packet",
        "Plugins/FFmpegSource/AccessUnitAssembler.swift":
            "owns a libavcodec parser, and reads the first bytes of packets",
        "Sources/InletFFmpeg/PNGEncoder.swift": "owns a codec context, a libswscale context and their pictures",
        "Sources/InletFFmpeg/FFmpegPacket.swift": "owns a packet",
        "Sources/InletFFmpeg/PacketParser.swift": "owns a libavcodec parser",
        "Sources/InletFFmpeg/BT601Colors.swift": "rewrites the rows of a picture",
        "Sources/InletFFmpeg/JPEGEncoder.swift": "owns an encoder's context and the frame that wraps a picture",
        "Sources/InletFFmpeg/InletError+FFmpeg.swift": "libav's text of an error",
        "Sources/InletFFmpeg/Values+FFmpeg.swift": "libavutil's name of a pixel format",
        "Sources/InletV4L2/DeviceWatch.swift": "owns an inotify descriptor",
        "Sources/InletV4L2/PriorityWatcher.swift": "waits in poll",
        "Sources/InletV4L2/SystemFiles.swift": "reads small files, links and folders of the kernel",
        "Sources/InletV4L2/V4L2Buffer.swift": "owns a driver's mapped buffer",
        "Sources/InletV4L2/V4L2Device.swift": "owns the descriptor of a device",
        "Sources/InletV4L2/V4L2Device+Controls.swift": "calls of that device that read and set controls",
        "Sources/InletV4L2/V4L2Device+Events.swift": "calls of that device that read events",
        "Sources/InletV4L2/V4L2Device+Formats.swift": "calls of that device that read and set formats",
        "Sources/InletSystem/SystemThread.swift": "starts a thread",
        "Sources/InletSystem/MonotonicTime+Now.swift": "reads clocks",
        "Sources/InletSystem/SystemErrorText.swift": "the system's text of an errno",
        "Sources/InletCapture/Statistics/AtomicCounters.swift": "owns the memory of counters",
        "Sources/InletCapture/Timeline/SystemClock.swift": "sleeps in poll",
        "Sources/InletSystem/WakeUpSignal.swift": "owns an eventfd",
        "Sources/InletTesting/DescriptorSignal.swift": "owns the pipe of a manual clock's wake-up",
        "Sources/InletTesting/NativePicture.swift": "owns the memory of a scripted picture",
        "Sources/InletCLI/Terminal.swift": "writes to standard error and asks for resource usage",
        "Plugins/FFmpegSource/Demuxer.swift": "owns a libavformat input",
        "Plugins/FFmpegSource/Demuxer+Facts.swift": "reads what that input says of its stream",
        "Plugins/FFmpegSource/DemuxerInput.swift": "takes that input",
        "Plugins/FFmpegSource/AVFormatContext+Facts.swift": "reads what an input says of itself",
        "Plugins/FFmpegSource/FileInput.swift": "makes a libavformat input of a file",
        "Plugins/FFmpegSource/NetworkInput.swift": "makes a libavformat input of a network stream",
        "Plugins/FFmpegSource/PipeInput.swift": "owns a descriptor and libavformat's view of it",
        "Sources/InletOutput/CalendarTime.swift": "the C library's calendar",
        "Sources/InletOutput/FileNamePattern+Folder.swift": "reads a folder",
        "Plugins/FileSinks/MD5Digest.swift": "owns libavutil's MD5 state",
        "Sources/InletOutput/NewFile.swift": "opens a file and asks what it is",
        "Sources/InletOutput/OutputFile.swift": "owns a descriptor",
        "Sources/InletOutput/OutputPieces.swift": "the pieces of memory that one writev takes",
        "Sources/InletOutput/PackingBlock.swift": "owns the memory into which padded planes are packed",
        "Sources/InletOutput/RecordingMark.swift": "reads clocks, and the attributes of files",
        "Sources/InletOutput/SignalGuard.swift": "masks a signal of the writing thread",
        "Plugins/PipeSink/ChildProcess.swift": "starts a program and owns its pipes",
        "Plugins/PipeSink/ExecSink.swift": "the list of memory that one write takes",
        "Plugins/PipeSink/SharedMemoryFile.swift": "owns a file of shared memory",
        "Plugins/PipeSink/SharedMemorySegment.swift": "owns a mapped segment",
        "Plugins/PreviewSink/PictureHub.swift": "copies an encoded picture",
        "Plugins/WebRTCSink/DataChannel.swift": "owns a data channel, and what GStreamer's callbacks hold",
        "Plugins/WebRTCSink/GStreamerViewer.swift": "owns a viewer's pipeline, and what GStreamer's callbacks hold",
        "Plugins/WebRTCSink/SharedPacket.swift": "owns a reference to a packet as GStreamer has it",
        "Plugins/WebRTCSink/ViewerPipeline.swift": "asks GStreamer for its elements",
        "Plugins/StillSinks/StagedFile.swift": "owns a descriptor",
        "Plugins/PatternSource/I420Draft+Drawing.swift": "fills rows of a draft",
        "Plugins/TurboJPEGDecoder/JPEGPicturePool.swift": "owns the memory of pictures",
        "Plugins/TurboJPEGDecoder/TurboJPEGLibrary.swift": "owns a decompressor, and hands it data and planes",
        "Plugins/TurboJPEGDecoder/TurboJPEGVideoDecoder.swift": "makes frames of decoded planes",
        "Plugins/V4L2Sink/OutputDevice.swift": "fills the buffers of an output device",
        "Plugins/V4L2Source/BlockPool.swift": "owns the memory of pictures that could not stay with the driver",
        "Plugins/V4L2Source/Camera.swift": "owns an opened camera: reads and polls its descriptor",
        "Plugins/V4L2Source/CapturePicture.swift": "finds the planes of a picture in a driver's buffers",
        "Plugins/V4L2Source/CaptureQueue.swift": "hands buffers to the driver and takes them back",
        "Plugins/V4L2Source/CompressedStream.swift": "copies compressed pictures from a driver's buffers",
        "Plugins/V4L2Source/PixelRepacking.swift": "rewrites rows of a picture",
        "Plugins/V4L2Source/VendorConverter.swift": "owns libv4l's converter of pixel formats",
        "Plugins/V4L2Source/V4L2Source.swift": "makes frames of a driver's buffers",
        "Sources/InletCore/Sources/SourcePlanes.swift": "hands out the planes of a picture",
        "Sources/InletCore/Sources/SourcePlane.swift":
            "a native plane: a pointer into memory that the frame's owner keeps alive",
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
        for file in files {
            guard let first = lines(in: file.text).first else { continue }
            if unused.remove(file.path) == nil {
                violations.append(
                    Violation(
                        path: file.path, line: first,
                        message: "unsafe code outside the owner and buffer types listed in UnsafeCodeRule"))
            }
        }
        return violations
            + unused.sorted().map {
                Violation(path: $0, message: "holds no unsafe code: take it off UnsafeCodeRule's list")
            }
    }
}

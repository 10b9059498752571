import CFFmpeg
import InletCore

// Unsafe: reads libavformat's option tables.
/// The options of libavformat's demuxers and protocols, as its own tables list them.
enum FFmpegOptionNames {
    /// Checks one of the user's options.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for an option that neither the demuxer nor the protocol has,
    ///   or that would disable a protection.
    static func check(_ name: String, value: String, scheme: String) throws(InletError) {
        guard !FFmpegNetworkConfiguration.refusedOptions.contains(name) else {
            throw InletError(
                .invalidConfiguration,
                "The option ffmpeg.\(name) is not allowed, because it could disable a protection.")
        }
        let known = names(scheme: scheme)
        guard !known.contains(name) else { return }
        let hint = Spelling.nearest(to: name, among: known.sorted()).map { " Did you mean 'ffmpeg.\($0)'?" } ?? ""
        throw InletError(.invalidConfiguration, "libavformat has no option '\(name)' for \(scheme).\(hint)")
    }

    /// Returns whether this libavformat reads from a protocol. (RTSP is a demuxer.)
    static func hasProtocol(_ scheme: String) -> Bool {
        // libcurl handles these.
        if ["http", "https"].contains(scheme) { return true }
        if scheme.hasBytePrefix("rtsp") { return unsafe av_find_input_format("rtsp") != nil }
        var position: UnsafeMutableRawPointer?
        while let name = unsafe avio_enum_protocols(&position, 0) {
            if unsafe String(cString: name) == scheme { return true }
        }
        return false
    }

    private static func names(scheme: String) -> Set<String> {
        let demuxers = [
            "rtsp": "rtsp", "rtsps": "rtsp", "udp": "mpegts", "srt": "mpegts", "rtmp": "flv", "rtmps": "flv",
        ]
        var names = unsafe collect(avformat_get_class())
        for name in demuxers[scheme].map({ [$0] }) ?? ["hls", "mpjpeg", "mov,mp4,m4a,3gp,3g2,mj2"] {
            if let format = unsafe av_find_input_format(name) {
                unsafe names.formUnion(collect(format.pointee.priv_class))
            }
        }
        guard !["http", "https"].contains(scheme) else { return names.union(HTTPSettings.options) }
        for name in [scheme, "tcp"] { unsafe names.formUnion(collect(avio_protocol_get_class(name))) }
        return names
    }

    private static func collect(_ type: UnsafePointer<AVClass>?) -> Set<String> {
        guard var type = unsafe type else { return [] }
        var names: Set<String> = []
        unsafe withUnsafeMutablePointer(to: &type) { object in
            var option: UnsafePointer<AVOption>?
            while let next = unsafe av_opt_next(object, option) {
                unsafe option = next
                if unsafe next.pointee.type != AV_OPT_TYPE_CONST, let name = unsafe next.pointee.name {
                    unsafe names.insert(String(cString: name))
                }
            }
        }
        return names
    }
}

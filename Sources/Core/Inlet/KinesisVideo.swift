#if GStreamer
extension SinkPlugin {
    /// Returns the plug-in for `kvs:CHANNEL` as a sink: the master of a channel of Kinesis Video.
    ///
    /// - Parameter makeEncoder: returns the encoder, such as `FFmpegVideoEncoder`.
    public static func kinesis(makeEncoder: @escaping @Sendable () -> any VideoEncoder) -> SinkPlugin {
        let options = KinesisOptions()
        return signaled(
            PluginInfo(
                name: "KinesisMaster", schemes: ["kvs"],
                summary: "Viewers of an Amazon Kinesis Video channel, over WebRTC.",
                usage: "kvs:CHANNEL, a name or an ARN; credentials are found where AWS's tools find them",
                options: options.ofMaster,
                examples: ["kvs:porch?region=eu-central-1", "kvs:porch?create=true&max-fps=15"]),
            makeEncoder: makeEncoder
        ) { uri, values in
            let configuration = try options.master(uri, values)
            return { () throws(InletError) in try KinesisSignaling(configuration) }
        }
    }
}

extension SourcePlugin {
    /// The plug-in for `kvs:CHANNEL` as a source: the video of the master of a channel of Kinesis Video.
    public static let kinesis: SourcePlugin = {
        let options = KinesisOptions()
        return signaled(
            PluginInfo(
                name: "KinesisViewer", schemes: ["kvs"],
                summary: "The video of the master of an Amazon Kinesis Video channel, over WebRTC.",
                usage: "kvs:CHANNEL, a name or an ARN; credentials are found where AWS's tools find them",
                options: options.ofViewer,
                examples: ["kvs:porch?region=eu-central-1", "kvs:porch?codec=vp8"])
        ) { uri, values in
            let configuration = try options.viewer(uri, values)
            return { () throws(InletError) in try KinesisViewerChannel(configuration) }
        }
    }()
}
#endif

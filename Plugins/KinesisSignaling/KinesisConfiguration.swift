public import InletCore
import InletRTC

/// A signaling channel of Amazon Kinesis Video Streams, and the settings for reaching it. Holds no credentials: they
/// are found in the same places as by AWS's own tools.
public struct KinesisConfiguration: Sendable {
    /// The role of this side.
    public enum Role: Sendable, Hashable {
        /// The master, which all viewers reach.
        case master
        /// One of many viewers, which reach the master. The name must differ from those of other viewers: 1 to 256
        /// letters, digits and `_.-`.
        case viewer(clientID: String)
    }

    /// The name of the channel or its ARN, as `arn:aws:kinesisvideo:REGION:ACCOUNT:channel/NAME/NUMBER`.
    public var channel: String
    /// The role of this side. The default is ``Role-swift.enum/master``.
    public var role = Role.master
    /// The region, such as `eu-central-1`. The default, nil, is that of the ARN, of `AWS_REGION`, or of the profile.
    public var region: String?
    /// The profile of AWS's shared files. The default, nil, is that of `AWS_PROFILE`.
    public var profile: String?
    /// Whether a channel of this name is created if it does not exist. The default is false.
    public var creates = false
    /// The address of the service instead of AWS's, such as `http://127.0.0.1:8080`. The default, nil, is that of
    /// `AWS_ENDPOINT_URL_KINESIS_VIDEO` or `AWS_ENDPOINT_URL`, or AWS's of the region.
    public var endpoint: String?
    /// A PEM file with the certificate authorities for the WebSocket. The default, nil, is the system's.
    public var authorities: String?
    /// The wait before the second further attempt to connect; it doubles with each, up to half a minute. The default is
    /// a second.
    public var backOff = Duration.seconds(1)
    /// The longest use of one connection, which AWS ends after an hour. The default is 55 minutes.
    public var connectionLimit = Duration.seconds(55 * 60)
    /// The limit on messages that wait to be sent to one peer; beyond it the oldest is dropped. The default is 128.
    public var mostUnsent = 128

    /// Creates a configuration with the default of each property.
    public init(channel: String) { self.channel = channel }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` with the correction.
    public func validate() throws(InletError) {
        if Self.isARN(channel) {
            _ = try arn()
        } else {
            guard Self.isName(channel) else {
                throw InletError(
                    .invalidConfiguration,
                    "A channel of Kinesis Video is kvs:NAME, of 1 to 256 letters, digits and _.-, or kvs:ARN.")
            }
        }
        if case .viewer(let clientID) = role, !Self.isName(clientID) {
            throw InletError(
                .invalidConfiguration, "The client ID of a viewer has 1 to 256 letters, digits and _.-.")
        }
        if let region { try Self.check(region: region) }
        guard backOff > .zero, connectionLimit >= .seconds(1), mostUnsent > 0 else {
            throw InletError(.invalidConfiguration, "Limits of Kinesis Video are more than zero.")
        }
    }

    /// The URI for logs and errors.
    public var redactedURI: String { "kvs:\(channel)" }

    static func isARN(_ channel: String) -> Bool { channel.hasBytePrefix("arn:") }

    /// The region of the channel's ARN, and whether it is one of China, whose addresses end in .cn.
    func arn() throws(InletError) -> (region: String, partition: String) {
        let parts = channel.split(atByte: ":")
        guard parts.count == 6, parts[2].isSameBytes(as: "kinesisvideo"), parts[5].hasBytePrefix("channel/"),
            channel.utf8.count <= 1024, channel.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw InletError(
                .invalidConfiguration,
                "The ARN of a channel is arn:aws:kinesisvideo:REGION:ACCOUNT:channel/NAME/NUMBER.")
        }
        try Self.check(region: String(parts[3]))
        return (String(parts[3]), String(parts[1]))
    }

    /// Checks a region, which becomes part of a host name.
    static func check(region: String) throws(InletError) {
        guard (1...64).contains(region.utf8.count),
            region.utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: "-") || ($0.isASCIILetter && $0 > 0x60) })
        else {
            throw InletError(.invalidConfiguration, "A region is a word such as eu-central-1.")
        }
    }

    /// Whether a text can be the name of a channel or a client (AWS: `[a-zA-Z0-9_.-]+`).
    static func isName(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "_.-".utf8.contains($0) }
    }
}

public import InletCore
import InletRTC

/// A signaling channel of Amazon Kinesis Video Streams, and the settings for reaching it. Contains no credentials:
/// they are found in the same places as by AWS's own tools.
public struct KinesisConfiguration: Sendable {
    /// The role of this side.
    public enum Role: Sendable, Hashable {
        /// The master, to which all viewers connect.
        case master
        /// One of many viewers, which connect to the master. The name must differ from those of other viewers: 1 to
        /// 256 letters, digits and `_.-`.
        case viewer(clientID: String)
    }

    /// The name of the channel or its ARN, such as `arn:aws:kinesisvideo:REGION:ACCOUNT:channel/NAME/NUMBER`.
    public var channel: String
    /// The role of this side. The default is ``Role-swift.enum/master``.
    public var role = Role.master
    /// The region, such as `eu-central-1`. The default, nil, is that of the ARN, of `AWS_REGION`, or of the profile.
    public var region: String?
    /// The profile of AWS's shared files. The default, nil, is that of `AWS_PROFILE`.
    public var profile: String?
    /// Whether the channel is created if it does not exist. The default is false.
    public var creates = false
    /// The address of the service, such as `http://127.0.0.1:8080`. The default, nil, is the address in
    /// `AWS_ENDPOINT_URL_KINESIS_VIDEO` or `AWS_ENDPOINT_URL`, or AWS's address in the region.
    public var endpoint: String?
    /// A PEM file with the certificate authorities for the WebSocket. The default, nil, uses the system's.
    public var authorities: String?
    /// The wait before the second reconnection attempt. It doubles with each attempt, up to half a minute. The default
    /// is a second.
    public var backOff = Duration.seconds(1)
    /// The longest use of one connection; AWS ends connections after an hour. The default is 55 minutes.
    public var connectionLimit = Duration.seconds(55 * 60)
    /// The maximum number of messages waiting to be sent to one peer; beyond it the oldest is dropped. The default is
    /// 128.
    public var mostUnsent = 128

    /// Creates a configuration with default values.
    public init(channel: String) { self.channel = channel }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` with advice.
    public func validate() throws(InletError) {
        if Self.isARN(channel) {
            _ = try arn()
        } else {
            guard Self.isName(channel) else {
                throw InletError(
                    .invalidConfiguration,
                    "A Kinesis Video channel is kvs:NAME, with 1 to 256 letters, digits and _.-, or kvs:ARN.")
            }
        }
        if case .viewer(let clientID) = role, !Self.isName(clientID) {
            throw InletError(
                .invalidConfiguration, "A viewer's client ID has 1 to 256 letters, digits and _.-.")
        }
        if let region { try Self.check(region: region) }
        guard backOff > .zero, connectionLimit >= .seconds(1), mostUnsent > 0 else {
            throw InletError(.invalidConfiguration, "The limits for Kinesis Video must be greater than zero.")
        }
    }

    /// The URI for logs and errors.
    public var redactedURI: String { "kvs:\(channel)" }

    static func isARN(_ channel: String) -> Bool { channel.hasBytePrefix("arn:") }

    /// Returns the region of the channel's ARN and the partition, which shows whether addresses end in .cn, as in
    /// China.
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

    /// Returns whether a text can be the name of a channel or client (AWS: `[a-zA-Z0-9_.-]+`).
    static func isName(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "_.-".utf8.contains($0) }
    }
}

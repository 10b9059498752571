/// Inlet's only error type: what failed, why, and what to try.
///
/// Base decisions on ``code``, and show ``description``. No error contains a password: ``context`` gets the source
/// already redacted.
public struct InletError: Error, Sendable {
    /// The kind of failure: the part to base decisions on.
    public var code: Code
    /// A message of one or two sentences for a person: what failed and what to try.
    public var message: String
    /// The underlying error, if any.
    public var cause: (any Error)?
    /// The place of the failure.
    public var context: Context
    /// The time that the other side asks to wait before the next attempt. The default, nil, means that it did not
    /// ask.
    public var retryAfter: Duration?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: text without secrets. It may include text from servers, files or devices: control characters,
    ///     bidirectional overrides and similar are written as escapes such as `\u{1B}`, and text beyond 4096 bytes is
    ///     cut.
    ///   - cause: the underlying error. The default is nil.
    ///   - context: where it happened. The default is unknown.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil, context: Context = Context()) {
        self.code = code
        self.message = message.sanitized(limit: Self.longestText)
        self.cause = cause
        self.context = context
    }

    private static let longestText = 4096

    /// The kind of failure. An open set: a later version may add codes without breaking a `switch`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name, as reports print it.
        public let description: String
        /// Makes a code by its name: one word in lower camel case.
        public init(_ name: String) { description = name }

        /// An option, size, rate or combination that can never work. Not worth a retry.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The file, device, host or plug-in does not exist.
        public static let notFound = Code("notFound")
        /// The operating system refuses access.
        public static let permissionDenied = Code("permissionDenied")
        /// The server refuses the credentials, or requires some. Not worth a retry.
        public static let authenticationFailed = Code("authenticationFailed")
        /// The person who was asked for access declined it, or has withdrawn it. Not worth a retry.
        public static let declined = Code("declined")
        /// Something else holds the device.
        public static let busy = Code("busy")
        /// The bus or link cannot carry the requested mode.
        public static let noBandwidth = Code("noBandwidth")
        /// It exists, but this build, driver or server cannot do what is requested.
        public static let unsupported = Code("unsupported")
        /// A server redirects to an address that is not allowed. Not worth a retry.
        public static let addressRefused = Code("addressRefused")
        /// The name service does not know the host, or could not be asked.
        public static let hostNotFound = Code("hostNotFound")
        /// The host is reachable, but nothing listens at the port.
        public static let connectionRefused = Code("connectionRefused")
        /// TLS negotiation failed, or the certificate is not trusted.
        public static let tlsFailed = Code("tlsFailed")
        /// The server reports that it cannot serve at present: status 500 and above.
        public static let serverUnavailable = Code("serverUnavailable")
        /// The server has forgotten the session, as after a restart: status 454 of RTSP.
        public static let sessionLost = Code("sessionLost")
        /// The codec or the time base of the stream has changed, so that it must be opened again.
        public static let formatChanged = Code("formatChanged")
        /// The server ended a stream that has no natural end.
        public static let streamEnded = Code("streamEnded")
        /// The other side went away.
        public static let disconnected = Code("disconnected")
        /// A deadline passed.
        public static let timedOut = Code("timedOut")
        /// The data does not conform to its format.
        public static let malformedData = Code("malformedData")
        /// A configured bound, the memory or the disk is used up.
        public static let resourceExhausted = Code("resourceExhausted")
        /// Reading or writing failed in a way that no other code covers.
        public static let inputOutput = Code("inputOutput")
        /// A plug-in broke its contract, or could not be loaded.
        public static let pluginRejected = Code("pluginRejected")
        /// The operation was cancelled by its caller.
        public static let cancelled = Code("cancelled")
        /// A mistake in Inlet itself.
        public static let `internal` = Code("internal")
    }

    /// The place of the failure, for logs and bug reports.
    public struct Context: Sendable {
        /// The URI of the source or sink, with credentials redacted.
        public var subject: String?
        /// The operation that failed, such as `open` or `avcodec_send_packet`.
        public var operation: String?
        /// The native code: an errno, or libav's AVERROR, whichever `operation` returns.
        public var nativeCode: Int32?
        /// The sequence number of the frame concerned.
        public var sequence: UInt64?

        public init(
            subject: String? = nil, operation: String? = nil, nativeCode: Int32? = nil, sequence: UInt64? = nil
        ) {
            self.subject = subject
            self.operation = operation
            self.nativeCode = nativeCode
            self.sequence = sequence
        }
    }

    /// Wraps an error of any type: an `InletError` stays itself, a `CancellationError` becomes ``Code/cancelled``, and
    /// any other the cause of an ``Code/internal`` error.
    public init(wrapping error: any Error, operation: String) {
        if let error = error as? InletError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled, "\(operation) was cancelled.", cause: error)
        } else {
            self.init(
                .internal, "\(operation) failed: \(error)", cause: error, context: Context(operation: operation))
        }
    }

    /// Returns the same error with its subject set, unless it already names one.
    public func about(_ subject: String) -> InletError {
        var error = self
        error.context.subject = context.subject ?? subject
        return error
    }
}

extension InletError: CustomStringConvertible {
    /// The message, preceded by the subject, as a log or a terminal may show it.
    public var description: String {
        guard let subject = context.subject else { return message.sanitized(limit: Self.longestText) }
        return "\(subject.sanitized()): \(message.sanitized(limit: Self.longestText))"
    }
}

import InletCore

/// The meaning of a response of Kinesis Video with a status other than 200.
struct KinesisFailure: Sendable {
    /// Whether the same request may succeed later.
    let mayPass: Bool
    /// Whether other credentials may help.
    let concernsCredentials: Bool
    let error: InletError

    /// - Parameters:
    ///   - response: the response.
    ///   - operation: the requested operation.
    ///   - channel: the channel, for the message.
    ///   - clock: this machine's time, in seconds since 1970.
    init(_ response: AWSResponse, operation: String, channel: String, clock: Int64) {
        let members = (try? JSONReader.read(Array(response.body.utf8)))?.members ?? []
        func text(_ names: [String]) -> String? {
            members.first { member in names.contains { member.key.isSameBytes(as: $0) } }?.value.text
        }
        // The header has `Name:http://...`, the body `prefix#Name`.
        let given = response.header("x-amzn-errortype") ?? text(["__type", "code", "Code"]) ?? ""
        let name = String(given.prefix(upToByte: ":").split(atByte: "#").last ?? "")
        let said = text(["message", "Message"]).map { " AWS's message: \($0.sanitized(limit: 300))" } ?? ""
        let skew = Self.skew(response, clock: clock)
        let (code, message): (InletError.Code, String)
        (code, message, mayPass, concernsCredentials) =
            switch name {
            case "ExpiredTokenException", "ExpiredToken", "RequestExpired":
                (.authenticationFailed, "The credentials of AWS have expired. Renew them.\(said)", false, true)
            case "InvalidSignatureException", "SignatureDoesNotMatch":
                if let skew {
                    (
                        .authenticationFailed,
                        "AWS rejected the signature, because this machine's clock is \(skew) off. Set the clock.",
                        false, true
                    )
                } else {
                    (
                        .authenticationFailed,
                        "AWS rejected the signature. Check the secret access key and the region.\(said)", false, true
                    )
                }
            case "UnrecognizedClientException", "InvalidClientTokenId", "IncompleteSignature",
                "MissingAuthenticationToken", "MissingAuthenticationTokenException":
                (.authenticationFailed, "AWS does not know the access key. Check the credentials.\(said)", false, true)
            case "AccessDeniedException", "AccessDenied", "NotAuthorizedException":
                (
                    .authenticationFailed,
                    "AWS denies access: the user or role needs kinesisvideo:\(operation) for '\(channel)'.\(said)",
                    false, true
                )
            case "ResourceNotFoundException":
                (
                    .notFound,
                    "There is no signaling channel '\(channel)' in this region. Check name and region, or create=true.",
                    false, false
                )
            case "ThrottlingException", "Throttling", "ClientLimitExceededException", "TooManyRequestsException",
                "LimitExceededException":
                (.serverUnavailable, "AWS received too many requests (\(name)). Try again later.\(said)", true, false)
            case "ResourceInUseException":
                (.busy, "The channel '\(channel)' is being changed. Try again later.\(said)", true, false)
            case "InvalidArgumentException", "ValidationException":
                (.invalidConfiguration, "AWS rejected the request \(operation).\(said)", false, false)
            case _ where response.status == 429 || response.status >= 500:
                (
                    .serverUnavailable, "AWS is currently unavailable (\(response.status)). Try again later.\(said)",
                    true,
                    false
                )
            case _ where response.status == 403:
                (.authenticationFailed, "AWS rejected the request (403). Check the credentials.\(said)", false, true)
            default:
                (.unsupported, "AWS answered \(operation) with \(response.status) \(name).\(said)", false, false)
            }
        error = InletError(
            code, message, context: .init(operation: operation, nativeCode: Int32(clamping: response.status)))
    }

    /// Returns how far this machine's clock is off, if it is too far for signatures, which AWS accepts within five
    /// minutes.
    private static func skew(_ response: AWSResponse, clock: Int64) -> String? {
        guard let date = response.header("date").flatMap(httpDate) else { return nil }
        let seconds = abs(clock - date)
        return seconds >= 240 ? "\(seconds / 60) minutes" : nil
    }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    static func httpDate(_ text: String) -> Int64? {
        let words = text.split(atByte: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard words.count == 6, let month = months.firstIndex(where: { words[2].isSameBytes(as: $0) }) else {
            return nil
        }
        return AWSTime.parse("\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(words[1])T\(words[4])Z")?.seconds
    }
}

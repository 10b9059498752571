import InletCore

/// An HTTP request to AWS, or to a local service that provides credentials.
struct AWSRequest: Sendable {
    var method: String
    /// The address, complete and escaped.
    var url: String
    var headers: [SigV4Signer.Field] = []
    var body = ""
    /// The time limit for the request and the response.
    var limit: Duration = .seconds(5)
}

/// A response to an ``AWSRequest``.
struct AWSResponse: Sendable {
    var status: Int
    /// The headers, with names in lower case.
    var headers: [SigV4Signer.Field] = []
    var body = ""

    /// Returns the value of a header. The name is given in lower case.
    func header(_ name: String) -> String? { headers.first { $0.name.isSameBytes(as: name) }?.value }
}

/// Sends a request and returns the response, whatever its status.
typealias AWSHTTP = @Sendable (AWSRequest) async throws(InletError) -> AWSResponse

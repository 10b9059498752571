import Foundation
import InletCore
import InletOutput
import InletRTC
import WebRTCEngine

/// The environment of the search for credentials, apart from its own settings, so that tests can replace it.
struct AWSEnvironment: Sendable {
    /// Returns the value of an environment variable; nil if it is not set or empty.
    var variable: @Sendable (String) -> String?
    /// Returns the content of a small file; nil if it does not exist.
    var file: @Sendable (String) throws(InletError) -> String?
    /// Replaces a file: readers see the former content or the new one. Only its owner can read it.
    var write: @Sendable (_ text: String, _ path: String) throws(InletError) -> Void
    var http: AWSHTTP
    /// Returns the time in seconds since 1970.
    var now: @Sendable () -> Int64
    /// Waits, or returns earlier if the task is cancelled.
    var sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    /// The single sign-on tokens that are being read and renewed, by the paths of their files. Copies share it, so
    /// that all users of ``process`` renew a token only once.
    var signOnTokens = SharedOutcomes<AWSCredentialsChain.UsableToken>()

    /// The maximum number of bytes of a file.
    static let longestFile = 262_144
}

extension AWSEnvironment {
    /// The environment of this process.
    static let process = AWSEnvironment(
        variable: { name in
            ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
        },
        file: { (path: String) throws(InletError) in try contents(of: path) },
        write: { (text: String, path: String) throws(InletError) in
            try StagedFile.write(Array(text.utf8), to: path, mode: .owner, overwrites: true)
        },
        http: { (request: AWSRequest) async throws(InletError) in try await exchange(request) },
        now: { Int64(Date().timeIntervalSince1970) })

    private static func contents(of path: String) throws(InletError) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            throw InletError(.permissionDenied, "Cannot read '\(path)'. Check its owner and its mode.")
        }
        defer { try? handle.close() }
        // At the end of a file, and thus for an empty one, the handle returns nil.
        guard let data = try? handle.read(upToCount: longestFile + 1) ?? Data(), data.count <= longestFile else {
            throw InletError(.malformedData, "'\(path)' cannot be read, or has more than \(longestFile) bytes.")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw InletError(.malformedData, "'\(path)' is not UTF-8 text.")
        }
        return text
    }

    private static func exchange(_ request: AWSRequest) async throws(InletError) -> AWSResponse {
        guard let url = URL(string: request.url) else {
            throw InletError(.invalidConfiguration, "An address for AWS is invalid. Check the endpoint.")
        }
        let response = try await HTTPExchange.perform(
            .init(
                method: request.method, url: url, headers: request.headers.map { .init($0.name, $0.value) },
                body: request.body, limit: request.limit))
        return AWSResponse(
            status: response.status, headers: response.headers.map { .init($0.name, $0.value) },
            body: response.body)
    }
}

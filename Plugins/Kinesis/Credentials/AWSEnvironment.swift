import Foundation
import InletCore
import InletRTC
import WebRTCEngine

/// The environment of the search for credentials, apart from its own settings, so that tests can replace it.
struct AWSEnvironment: Sendable {
    /// Returns the value of an environment variable; nil if it is not set or empty.
    var variable: @Sendable (String) -> String?
    /// Returns the content of a small file; nil if it does not exist.
    var file: @Sendable (String) throws(InletError) -> String?
    var http: AWSHTTP
    /// Returns the time in seconds since 1970.
    var now: @Sendable () -> Int64
    /// Runs a program for credentials and returns its standard output. The first parameter is the program and its
    /// arguments, the second its name for errors.
    var program: @Sendable ([String], String) async throws(InletError) -> String = { (words, name) throws(InletError) in
        try await CredentialProgram().output(of: words, name: name)
    }
    /// The outcomes of running programs, by their commands. Copies share it, so that all users of ``process`` run each
    /// program once at a time.
    var programOutcomes = SharedOutcomes<String>()

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

package import Foundation
import FoundationNetworking
package import InletCore
package import InletRTC
import Synchronization

/// One HTTP request and its response, bounded in bytes and in time. Follows no redirects.
///
/// Uses URLSession: it is part of the toolchain, supports TLS with the system's authorities, and needs no thread of
/// this package.
package enum HTTPExchange {
    /// The request to send.
    package struct Request: Sendable {
        package var method: String
        package var url: URL
        package var headers: [WHEPResponse.Header]
        package var body: String
        /// The time limit from beginning to end.
        package var limit: Duration

        package init(
            method: String, url: URL, headers: [WHEPResponse.Header] = [], body: String = "",
            limit: Duration = .seconds(10)
        ) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
            self.limit = limit
        }
    }

    /// The most bytes of a response.
    package static let mostBytes = 65_536

    /// Sends a request and waits for the response.
    ///
    /// - Throws: ``InletError`` if no response arrives.
    package static func perform(_ request: Request) async throws(InletError) -> WHEPResponse {
        let exchange = Exchange()
        var asked = URLRequest(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        asked.httpMethod = request.method
        for header in request.headers { asked.setValue(header.value, forHTTPHeaderField: header.name) }
        if !request.body.isEmpty { asked.httpBody = Data(request.body.utf8) }
        let seconds = Double(request.limit.wholeNanoseconds) / 1e9
        asked.timeoutInterval = seconds
        let options = URLSessionConfiguration.ephemeral
        options.timeoutIntervalForResource = seconds
        options.httpShouldSetCookies = false
        options.urlCache = nil
        let session = URLSession(configuration: options, delegate: exchange, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: asked)
        // URLSession's time-outs restart with each byte, or have no effect when it is cancelled from one of its
        // callbacks.
        let deadline = DispatchTime.now() + .nanoseconds(Int(request.limit.wholeNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: deadline) { [weak exchange, weak task] in
            exchange?.end(.failure(InletError(.timedOut, "The server did not answer in time.")))
            task?.cancel()
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.begin(continuation)
                task.resume()
            }
        } onCancel: {
            exchange.end(.failure(InletError(.cancelled, "The request was cancelled.")))
            task.cancel()
        }
        return try result.get()
    }

    /// URLSession's delegate, called on the session's queue.
    private final class Exchange: NSObject, URLSessionDataDelegate, Sendable {
        private struct State {
            var continuation: CheckedContinuation<Result<WHEPResponse, InletError>, Never>?
            /// The result, if it arrives before a caller waits for it.
            var early: Result<WHEPResponse, InletError>?
            var response: WHEPResponse?
            var bytes = Data()
        }

        private let state = Mutex(State())

        func begin(_ continuation: CheckedContinuation<Result<WHEPResponse, InletError>, Never>) {
            let early = state.withLock { state in
                if state.early == nil { state.continuation = continuation }
                return state.early
            }
            if let early { continuation.resume(returning: early) }
        }

        /// Ends the exchange with the first result; later ones are ignored.
        func end(_ result: Result<WHEPResponse, InletError>) {
            let continuation = state.withLock { state in
                state.early = state.early ?? result
                return state.continuation.take()
            }
            continuation?.resume(returning: result)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            note(response)
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            if let response = response as? HTTPURLResponse { note(response) }
            completionHandler(.allow)
        }

        private func note(_ response: HTTPURLResponse) {
            let headers = response.allHeaderFields.compactMap { name, value -> WHEPResponse.Header? in
                guard let name = name as? String, let value = value as? String else { return nil }
                return .init(name.lowercasedASCII, value)
            }
            state.withLock { $0.response = WHEPResponse(status: response.statusCode, headers: headers) }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isTooLong = state.withLock { state in
                state.bytes.append(data.prefix(max(0, mostBytes + 1 - state.bytes.count)))
                return state.bytes.count > mostBytes
            }
            guard isTooLong else { return }
            end(.failure(InletError(.malformedData, "The server's answer has more than \(mostBytes) bytes.")))
            dataTask.cancel()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end(state.withLock { Self.result($0, error) })
        }

        private static func result(_ state: State, _ error: (any Error)?) -> Result<WHEPResponse, InletError> {
            if let error { return .failure(failure(error)) }
            guard var response = state.response, let body = String(data: state.bytes, encoding: .utf8) else {
                return .failure(InletError(.malformedData, "The server's answer is not HTTP, or not text."))
            }
            response.body = body
            return .success(response)
        }

        private static func failure(_ error: any Error) -> InletError {
            let code = (error as? URLError)?.code
            let (kind, message): (InletError.Code, String) =
                switch code {
                case .timedOut?: (.timedOut, "The server did not answer in time.")
                case .cancelled?: (.cancelled, "The request was cancelled.")
                case .cannotFindHost?, .dnsLookupFailed?:
                    (.hostNotFound, "The name service does not know the server, or cannot be asked.")
                case .cannotConnectToHost?: (.connectionRefused, "Nothing listens at the server's port.")
                case .secureConnectionFailed?, .serverCertificateUntrusted?, .serverCertificateHasBadDate?,
                    .serverCertificateNotYetValid?, .serverCertificateHasUnknownRoot?:
                    (.tlsFailed, "TLS with the server failed. Look at its certificate.")
                // Foundation on Linux knows codes for few of libcurl's errors, and passes on the messages of the
                // others.
                case .unknown? where error.localizedDescription.containsBytes("SSL"):
                    (.tlsFailed, "TLS with the server failed: \(error.localizedDescription).")
                default: (.disconnected, "The connection to the server broke before it answered.")
                }
            return InletError(
                kind, message,
                context: .init(operation: "HTTP", nativeCode: code.map { Int32(clamping: $0.rawValue) })
            )
        }
    }
}

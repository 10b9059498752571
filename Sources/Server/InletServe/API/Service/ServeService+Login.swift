import InletCore
import InletHTTPServer
import NIOCore
import NIOHTTP1

/// The page on which a person enters the token.
extension ServeService {
    private static let loginPage = ByteBuffer(string: PackageTexts.login_html)

    /// Returns the page with a login form if a browser opens the page without a right token. Other clients get the
    /// given answer.
    func unauthorized(_ request: HTTPRequest, _ answer: HTTPAnswer) -> HTTPAnswer {
        guard let route = try? ServeRoute.find(request.method, request.path), route == .page, request.wantsHTML
        else { return answer }
        var page = answer
        page.headers.replaceOrAdd(name: "content-type", value: "text/html; charset=utf-8")
        page.body = Self.loginPage
        return page
    }
}

extension HTTPRequest {
    /// Whether the client explicitly accepts HTML. Browsers do so only for pages (RFC 9110, 12.5.1).
    fileprivate var wantsHTML: Bool {
        guard let accepted = header("accept")?.utf8 else { return false }
        return accepted.split(separator: UInt8(ascii: ",")).contains { type in
            TextBytes.isSame(
                TextBytes.trimmed(type.prefix { $0 != UInt8(ascii: ";") }), ignoringCase: "text/html")
        }
    }
}

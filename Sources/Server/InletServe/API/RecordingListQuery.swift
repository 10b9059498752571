import InletCore
import InletHTTPServer

/// The query of a request for a page of the list of recordings.
struct RecordingListQuery: Sendable {
    /// The maximum number of recordings of a page. The default is ``defaultLimit``.
    var limit = defaultLimit
    /// The end of the previous page; nil for the first page.
    var cursor: RecordingStore.Cursor?
    /// Whether the newest recording comes first. The default is false.
    var isNewestFirst = false

    /// The default for the maximum number of recordings of a page, and the highest number that a request may ask for.
    static let (defaultLimit, highestLimit) = (100, 1000)

    /// - Throws: a sentence that describes the error in the query.
    init(_ request: HTTPRequest) throws(Mistake) {
        if let bytes = request.queryValue(of: "limit") {
            guard let number = TextBytes.number(bytes), (1...Self.highestLimit).contains(number) else {
                throw Mistake(text: "limit takes a number from 1 to \(Self.highestLimit).")
            }
            limit = number
        }
        if let bytes = request.queryValue(of: "cursor") {
            guard let cursor = RecordingStore.Cursor(text: String(decoding: bytes, as: UTF8.self)) else {
                throw Mistake(text: "cursor takes the value of \"next\" in the previous part of the list.")
            }
            self.cursor = cursor
        }
        if let bytes = request.queryValue(of: "order") {
            guard ["newest".utf8, "oldest".utf8].contains(where: { bytes.elementsEqual($0) }) else {
                throw Mistake(text: "order takes newest or oldest.")
            }
            isNewestFirst = bytes.elementsEqual("newest".utf8)
        }
    }

    /// A mistake in a query.
    struct Mistake: Error {
        var text: String
    }
}

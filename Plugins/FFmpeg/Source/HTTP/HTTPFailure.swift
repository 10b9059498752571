import CCurl
import CFFmpeg
import Glibc
import InletFFmpeg

/// The meaning of a failed transfer for libavformat and for ``NetworkTrouble``.
struct HTTPFailure {
    /// One of libavformat's codes, all of which are negative.
    var code: Int32
    /// The facts for which libavformat has no codes.
    var facts = FFmpegLogging.Facts()

    init(_ transfer: HTTPTransfer) {
        let answer = transfer.answer
        // If the response is a rejection, its data may be cut off; the rejection counts.
        if answer.isWhole, !answer.isSuccess {
            facts.status = answer.status >= 400 ? answer.status : nil
            code = Self.code(status: answer.status)
            return
        }
        if transfer.tunnelStatus >= 300 {
            facts.status = transfer.tunnelStatus
            code = Self.code(status: transfer.tunnelStatus)
            return
        }
        let (result, error) = (transfer.result ?? CURLE_RECV_ERROR, transfer.systemError)
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            facts.nameIsUnknown = true
            code = -EIO
        case CURLE_COULDNT_CONNECT: code = error > 0 ? -error : -ECONNREFUSED
        case CURLE_OPERATION_TIMEDOUT: code = -ETIMEDOUT
        // A connection that is cut during the TLS handshake says nothing about TLS.
        case CURLE_SSL_CONNECT_ERROR where [ECONNRESET, EPIPE].contains(error) || transfer.wasCutInTLS:
            code = -ECONNRESET
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            facts.tlsFailed = true
            code = -EIO
        case CURLE_GOT_NOTHING: code = -ECONNRESET
        case CURLE_URL_MALFORMAT: code = -EINVAL
        case CURLE_OUT_OF_MEMORY: code = -ENOMEM
        // Not HTTP, or a head that is too long: libavformat's -1, which has no meaning.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR,
            CURLE_BAD_CONTENT_ENCODING:
            code = -EPERM
        // libavformat's code for a truncated body.
        default: code = -EIO
        }
    }

    private static func code(status: Int) -> Int32 {
        switch status {
        case 400: inlet_averror_http_bad_request
        case 401: inlet_averror_http_unauthorized
        case 403: inlet_averror_http_forbidden
        case 404: inlet_averror_http_not_found
        case 402..<500: inlet_averror_http_other_4xx
        case 500...: inlet_averror_http_server_error
        // A redirect without a target.
        default: -EINVAL
        }
    }
}

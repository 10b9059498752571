import CFFmpeg
import InletCore

// Unsafe: reads libavformat's build configuration.
/// The TLS library of libavformat.
package enum TLSLibrary: Sendable, Hashable {
    /// OpenSSL, with which libavformat checks a certificate's chain, but not that it is for the host: any host with a
    /// certificate passes for any other.
    case openSSL
    /// GnuTLS, mbed TLS, LibreSSL's libtls, Schannel or Secure Transport, with all of which libavformat also checks the
    /// host name.
    case other

    /// Finds the library that a build of FFmpeg was configured with.
    ///
    /// - Parameter configuration: what `avformat_configuration` returns: the options of FFmpeg's `configure`, separated
    ///   by spaces.
    package init(configuration: String) {
        let options = configuration.split(atByte: " ", keepsEmpty: false).map(String.init)
        // The last of both counts. OpenSSL is never detected automatically.
        let last = options.last { ["--enable-openssl", "--disable-openssl"].contains($0) }
        self = last == "--enable-openssl" ? .openSSL : .other
    }

    /// The library of the installed libavformat.
    package static let installed = TLSLibrary(configuration: unsafe String(cString: avformat_configuration()))
}

import CFFmpeg
import InletCore

/// The library by which libavformat speaks TLS.
package enum TLSLibrary: Sendable, Hashable {
    /// Checks a certificate's chain, and not whether it is for the host: any host with a certificate passes for any
    /// other.
    case openSSL
    /// GnuTLS, mbed TLS, LibreSSL's libtls, Schannel or Secure Transport, by all of which libavformat checks the name
    /// of the host, too.
    case other

    /// The library that a build of FFmpeg was configured with.
    ///
    /// - Parameter configuration: as `avformat_configuration` gives it: the options of FFmpeg's `configure`, separated
    ///   by spaces.
    package init(configuration: String) {
        let options = configuration.split(atByte: " ", keepsEmpty: false).map(String.init)
        // The last of both counts. OpenSSL is never found by itself.
        let last = options.last { ["--enable-openssl", "--disable-openssl"].contains($0) }
        self = last == "--enable-openssl" ? .openSSL : .other
    }

    /// That of the installed libavformat.
    package static let installed = TLSLibrary(configuration: unsafe String(cString: avformat_configuration()))
}

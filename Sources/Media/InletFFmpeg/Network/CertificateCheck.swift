import CFFmpeg
package import InletCore

// Unsafe: reads libavformat's option tables.
/// How libavformat checks a server's certificate, and the URI options for it.
package struct CertificateCheck: Sendable, Hashable {
    /// The path of a PEM file with certificate authorities; nil uses the system's.
    package var authorities: String?
    /// Whether certificates are checked. The default is true.
    package var isOn: Bool

    package static let authorities = PluginOption.file("tls-ca", "A PEM file of certificate authorities")
    package static let verify = PluginOption(
        "tls-verify", default: CertificateCheck().isOn, "Whether the server's certificate is checked")

    package init(authorities: String? = nil, isOn: Bool = true) {
        self.authorities = authorities
        self.isOn = isOn
    }

    /// The TLS options for libavformat.
    package var settings: [(name: String, value: String)] {
        [("tls_verify", isOn ? "1" : "0")] + (authorities.map { [("ca_file", $0)] } ?? [])
    }

    /// Refuses a stream whose certificate should be checked and cannot be.
    ///
    /// - Parameter isOutput: whether the stream is sent.
    /// - Throws: ``InletError/Code/unsupported`` if this libavformat cannot check certificates as configured.
    package func refuseWhatCannotBeChecked(scheme: String, isOutput: Bool) throws(InletError) {
        if let error = refusal(
            scheme: scheme, library: .installed, checksRTSP: Self.hasCheck(ofRTSP: isOutput))
        {
            throw error
        }
    }

    /// Returns the error if a certificate should be checked and the installed libavformat cannot; otherwise nil.
    ///
    /// - Parameter checksRTSP: whether RTSP passes the options for the check on to TLS.
    package func refusal(scheme: String, library: TLSLibrary, checksRTSP: Bool) -> InletError? {
        guard isOn, Self.schemes.contains(scheme) else { return nil }
        let advice = "tls-verify=false takes any certificate, which keeps off listeners but no impostor."
        if library == .openSSL {
            return InletError(
                .unsupported,
                "The installed libavformat uses OpenSSL, and does not check that a certificate is for the host. "
                    + "Use one built with GnuTLS. \(advice)")
        }
        guard scheme == "rtsps", !checksRTSP else { return nil }
        return InletError(
            .unsupported, "The installed libavformat cannot check the certificates of rtsps servers. \(advice)")
    }

    /// The protocols for which libavformat uses TLS.
    private static let schemes: Set<String> = ["https", "rtmps", "rtsps", "tls"]

    /// Whether RTSP passes the option on to its TLS layer, as other protocols do. libavformat 5.1 does not have the
    /// option.
    private static func hasCheck(ofRTSP isOutput: Bool) -> Bool {
        let options =
            isOutput
            ? unsafe av_guess_format("rtsp", nil, nil)?.pointee.priv_class
            : unsafe av_find_input_format("rtsp")?.pointee.priv_class
        guard var options = unsafe options else { return false }
        return unsafe withUnsafeMutablePointer(to: &options) {
            unsafe av_opt_find($0, "tls_verify", nil, 0, Int32(AV_OPT_SEARCH_FAKE_OBJ)) != nil
        }
    }
}

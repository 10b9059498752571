import InletCore
import InletFFmpeg
import Testing

@Suite struct CertificateCheckTests {
    @Test(
        "The TLS library is determined from FFmpeg's configuration",
        arguments: [
            ("--prefix=/usr --enable-gpl --enable-gnutls --enable-shared", .other),
            ("--enable-version3 --enable-openssl --enable-libx264", .openSSL), ("--enable-openssl", .openSSL),
            ("--enable-openssl --disable-openssl", .other), ("--disable-openssl --enable-openssl", .openSSL),
            ("--enable-mbedtls", .other), ("--enable-libtls", .other), ("--disable-securetransport", .other),
            ("", .other),
            ("--extra-cflags=--enable-openssl-like", .other),
        ] as [(String, TLSLibrary)])
    func library(_ configuration: String, _ library: TLSLibrary) {
        #expect(TLSLibrary(configuration: configuration) == library)
    }

    @Test(
        "If the host name is not checked, protocols with TLS are refused, unless certificates are not checked",
        arguments: ["https", "rtmps", "rtsps", "tls"])
    func openSSL(_ scheme: String) throws {
        let check = CertificateCheck()
        let error = try #require(check.refusal(scheme: scheme, library: .openSSL, checksRTSP: true))
        #expect(error.code == .unsupported && error.message.contains("OpenSSL") && error.message.contains("tls-verify"))
        #expect(
            CertificateCheck(authorities: "own.pem").refusal(scheme: scheme, library: .openSSL, checksRTSP: true) != nil
        )
        #expect(CertificateCheck(isOn: false).refusal(scheme: scheme, library: .openSSL, checksRTSP: false) == nil)
        #expect(check.refusal(scheme: scheme, library: .other, checksRTSP: true) == nil)
    }

    @Test("With other libraries, only RTSP is refused, if it does not pass the settings to TLS")
    func rtsp() {
        let check = CertificateCheck()
        #expect(check.refusal(scheme: "rtsps", library: .other, checksRTSP: false)?.code == .unsupported)
        #expect(CertificateCheck(isOn: false).refusal(scheme: "rtsps", library: .other, checksRTSP: false) == nil)
        for scheme in ["rtsp", "http", "rtmp", "srt", "udp", "tcp", "https", "rtmps", "tls"] {
            #expect(check.refusal(scheme: scheme, library: .other, checksRTSP: false) == nil)
        }
        for scheme in ["rtsp", "http", "rtmp", "srt", "udp", "tcp"] {
            #expect(check.refusal(scheme: scheme, library: .openSSL, checksRTSP: false) == nil)
        }
    }
}

import InletCore
import InletRTSP

// A server's texts: session descriptions, addresses, headers, challenges.
//
// Input: texts, each followed by a NUL: an address, a control, a challenge, a header, and a session description up to
// the end. Each is parsed as everything that it could be.

/// Whether bytes can be part of a line of a request.
private func isLine(_ text: [UInt8]) -> Bool { !text.contains { $0 == 10 || $0 == 13 || $0 == 0 } }

private func checkAddress(_ text: [UInt8], control: [UInt8]) {
    guard let url = try? RTSPURL(text) else { return }
    checkAddress(url)
    let base = url.base(contentBase: control, contentLocation: text)
    let others = url.candidates(forControl: control) + [base, base.aggregate(control: control)]
    for other in others {
        checkAddress(other)
        demand(other.hasSameOrigin(as: url), "a control leads to another server")
    }
    if let target = url.redirected(to: control) { checkAddress(target) }
    // A written address is parsed as the same.
    var plain = url
    plain.credentials = nil
    guard let again = try? RTSPURL(url.requestURI) else { return demand(false, "its own address cannot be parsed") }
    demand(again.requestURI == url.requestURI && again.hasSameOrigin(as: plain), "\(plain) became \(again)")
}

private func checkAddress(_ url: RTSPURL) {
    let uri = url.requestURI
    demand(!uri.contains { $0 <= 0x20 || $0 == 0x7F }, "an address that does not end with its scheme word")
    demand(!url.host.isEmpty, "no host")
    _ = url.description
}

private func checkDescription(_ text: [UInt8]) {
    let sdp = SDP(text)
    demand(sdp.media.count <= 64, "\(sdp.media.count) media")
    for media in sdp.media {
        demand(media.payloadTypes.count <= 128 && media.encodings.count <= 128, "too many formats")
        demand((0...65_535).contains(media.port), "port \(media.port)")
        demand(media.frameRate.map { $0 > 0 && $0 <= 1000 } ?? true, "a frame rate out of range")
        demand(media.dimensions?.isValid ?? true, "an impossible size")
    }
    for choice in [SDP.VideoChoice.first, .at(0), .at(1), .at(70)] {
        guard let video = sdp.video(choice) else { continue }
        let sets = video.parameterSets.reduce(0) { $0 + $1.count } + video.config.count
        demand(sets <= text.count, "parameter sets of \(sets) bytes")
        demand(video.dimensionsHint?.isValid ?? true, "an impossible size")
        demand(video.clockRate > 0, "a clock rate of \(video.clockRate)")
        demand(video.payloadType < 128, "payload type \(video.payloadType)")
        _ = video.connection?.isMulticast
    }
}

private func checkHeader(_ text: [UInt8]) {
    if let session = SessionHeader(text) {
        demand(!session.id.isEmpty && session.id.count <= 1024 && session.timeout > 0, "a session out of range")
    }
    _ = RangeHeader(text)
    demand(RTPInfo.all(in: text).count <= 64, "too many entries of RTP-Info")
    _ = PublicHeader.methods(in: [text])
    for delivery in [TransportHeader.Delivery.tcp, .unicast, .multicast] {
        let header = TransportHeader(reply: text, requested: TransportHeader(delivery: delivery))
        for pair in [header.interleaved, header.clientPorts, header.serverPorts, header.ports].compactMap(\.self) {
            demand((0...65_535).contains(pair.rtp) && (0...65_535).contains(pair.rtcp), "ports out of range")
        }
        if let pair = header.interleaved { demand(max(pair.rtp, pair.rtcp) <= 255, "channels out of range") }
        demand(header.timeToLive.map { (0...255).contains($0) } ?? true, "a time to live out of range")
        demand(isLine(header.requestValue), "a transport of two lines")
    }
}

private func checkChallenges(_ text: [UInt8], _ other: [UInt8], uri: [UInt8]) {
    var authentication = RTSPAuthentication(
        credentials: RTSPCredentials(user: Array("u\"\\\r\n".utf8), password: Array("fuzz-pass-5Q".utf8)),
        clientNonce: Array("0a4f113b".utf8))
    var sent: [UInt8]?
    var retries = 0
    for turn in 0..<12 {
        let challenges = turn & 1 == 0 ? [text] : [other, text]
        let outcome = authentication.take(challenges: challenges, sent: sent, wasAnsweringChallenge: turn & 2 != 0)
        demand(!Array(authentication.description.utf8).holds("fuzz-pass-5Q"), "the password in a description")
        guard outcome == .retry else { break }
        retries += 1
        sent = authentication.authorization(method: .play, uri: uri)
        if let sent { demand(!sent.holds("fuzz-pass-5Q"), "the password in a request") }
    }
    demand(retries < 12, "repeats its credentials endlessly")
}

/// Reads one input. Called by libFuzzer.
@c(LLVMFuzzerTestOneInput)
public func fuzzText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let (address, control, challenge, header) = (input.text(), input.text(), input.text(), input.text())
    let description = input.rest()
    checkAddress(address, control: control)
    checkAddress(control, control: address)
    checkChallenges(challenge, header, uri: address)
    checkHeader(header)
    checkHeader(challenge)
    checkDescription(description)
    return 0
}

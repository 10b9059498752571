import InletCore
import InletRTSP

// The answers of an ONVIF device.
//
// Input: a byte of flags, a piece size, and the answers, each preceded by two bytes of length. The answers are parsed
// as XML, as HTTP in pieces, and by a session, which receives the bodies in the order of its requests.

private let password = Array("fuzz-pass-5Q".utf8)

private func response(_ bytes: [UInt8], size: Int) -> (RTSPResponse?, InletError.Code?) {
    var reader = HTTPResponseReader()
    do throws(InletError) {
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            if let response = unsafe try reader.receive(piece.span.bytes) { return (response, nil) }
            start += size
        }
        return (try reader.ended(), nil)
    } catch {
        return (nil, error.code)
    }
}

private func checkXML(_ bytes: [UInt8]) {
    guard let root = try? XMLReader.root(of: bytes) else { return }
    func count(_ element: XMLElement, depth: Int) -> Int {
        demand(depth <= 64, "too deep")
        return element.name.count + element.text.count + element.children.reduce(0) { $0 + count($1, depth: depth + 1) }
    }
    // The text of a reference is not longer than the reference.
    demand(count(root, depth: 1) <= bytes.count, "more text than bytes")
}

private func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

private func checkExchange(_ exchange: ONVIFSession.Exchange, _ session: ONVIFSession) {
    demand(exchange.bytes.count < 4096, "a request of \(exchange.bytes.count) bytes")
    demand(!exchange.bytes.holds("fuzz-pass-5Q"), "the password is sent in plain text")
    // Host names are case-insensitive (RFC 3986, 3.2.2).
    let isFamiliar = exchange.url.host.map(lowercased) == Array("camera".utf8)
    demand(isFamiliar || !exchange.bytes.holds("UsernameToken"), "another host receives a token")
    demand(isFamiliar || !exchange.bytes.holds("Authorization"), "another host receives credentials")
    // The head ends once, and the body is well-formed XML.
    let head = exchange.bytes.indices.first { exchange.bytes[$0...].starts(with: "\r\n\r\n".utf8) }
    guard let head else { return demand(false, "a request without an end") }
    demand((try? XMLReader.root(of: Array(exchange.bytes[(head + 4)...]))) != nil, "a body that is not well-formed")
    _ = session.description
}

private func checkSession(_ answers: [[UInt8]], flags: UInt8) {
    guard let device = try? RTSPURL(service: Array("http://camera/onvif/device_service".utf8)),
        let stream = try? RTSPURL(Array("rtsp://camera/s?a=1".utf8))
    else { return demand(false, "its own address cannot be parsed") }
    var settings = ONVIFSession.Settings(device: device, stream: stream)
    if flags & 1 != 0 { settings.credentials = RTSPCredentials(user: Array("u<\r\n\"&".utf8), password: password) }
    var session = ONVIFSession(settings)
    for answer in answers {
        guard let exchange = session.next(wantsKeyFrame: true, at: 1_800_000_000, nonce: Array(0..<16)) else { break }
        checkExchange(exchange, session)
        guard let response = response(answer, size: .max / 2).0 else {
            session.restart()
            continue
        }
        _ = try? session.take(response, at: 1_800_000_000)
    }
    // If the same refusal is repeated, the requests end.
    guard let last = answers.last.flatMap({ response($0, size: .max / 2).0 }) else { return }
    for turn in 0... {
        guard session.next(wantsKeyFrame: false, at: 0, nonce: [1]) != nil else { break }
        do throws(InletError) {
            _ = try session.take(last, at: 0)
        } catch {
            break
        }
        demand(turn < 200, "the requests do not end")
    }
}

/// Reads one input. Called by libFuzzer.
@c(LLVMFuzzerTestOneInput)
public func fuzzONVIF(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let flags = input.byte()
    let size = max(1, Int(input.byte()))
    var answers: [[UInt8]] = []
    while !input.isAtEnd, answers.count < 16 { answers.append(input.piece(input.number16())) }
    for answer in answers {
        checkXML(answer)
        let (whole, code) = response(answer, size: .max / 2)
        for size in [size, 1] {
            let (split, splitCode) = response(answer, size: size)
            demand(split == whole && splitCode == code, "pieces of \(size) bytes give a different answer")
        }
        if let whole { checkXML(whole.body) }
    }
    checkSession(answers, flags: flags)
    return 0
}

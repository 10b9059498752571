import Foundation
import Glibc
import Synchronization

/// A server in this process that answers RTSP and HTTP with inputs that were damaged by a seed.
///
/// A thread serves each connection. The response depends only on the path, `/KIND/SEED`, so that each failure can be
/// repeated.
final class MutatingServer: Sendable {
    /// The damaged part.
    enum Kind: String, CaseIterable, Sendable { case sdp, rtp, playlist, ts }

    let port: Int
    private let listener: Int32
    private let material: MutationMaterial

    init(_ material: MutationMaterial) throws {
        self.material = material
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        listener = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread { [listener, material] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Thread {
                    Self.serve(client, material)
                    close(client)
                }.start()
            }
        }.start()
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ client: Int32, _ material: MutationMaterial) {
        // A client that neither sends requests nor reads is disconnected after a second.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(client, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        while let request = readRequest(client) {
            let lines = request.split(whereSeparator: \.isNewline)
            let words = lines.first?.split(separator: " ") ?? []
            guard words.count >= 2 else { return }
            let sequence = lines.first { $0.lowercased().hasPrefix("cseq") }.map { $0 + "\r\n" } ?? ""
            let parts = words[1].split(separator: "/").map(String.init)
            let seed = parts.compactMap { UInt64($0) }.last ?? 0
            let kind = Kind.allCases.first { parts.contains($0.rawValue) } ?? .sdp
            var mutation = Mutation(seed: seed)
            switch words[0] {
            case "OPTIONS":
                send(client, Data("RTSP/1.0 200 OK\r\n\(sequence)Public: DESCRIBE, SETUP, PLAY, TEARDOWN\r\n\r\n".utf8))
            case "DESCRIBE":
                let sdp = kind == .sdp ? mutation.spoil(text: material.sdp(seed)) : Data(material.sdp(seed).utf8)
                send(
                    client,
                    Data(
                        "RTSP/1.0 200 OK\r\n\(sequence)Content-Type: application/sdp\r\nContent-Length: \(sdp.count)\r\n\r\n"
                            .utf8) + sdp)
            case "SETUP":
                send(
                    client,
                    Data(
                        "RTSP/1.0 200 OK\r\n\(sequence)Session: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n"
                            .utf8))
            case "PLAY":
                send(client, Data("RTSP/1.0 200 OK\r\n\(sequence)Session: 1\r\n\r\n".utf8))
                for packet in material.packets(seed) {
                    let bytes = kind == .rtp ? mutation.spoil(packet) : packet
                    let count = min(bytes.count, 65_535)
                    guard send(client, Data([0x24, 0, UInt8(count >> 8), UInt8(count & 255)]) + bytes.prefix(count))
                    else { return }
                }
                return
            case "GET":
                let body =
                    kind == .ts || parts.contains("segment")
                    ? mutation.spoil(material.ts) : mutation.spoil(text: material.playlist(seed))
                send(
                    client,
                    Data("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
                return
            default: return
            }
        }
    }

    private static func readRequest(_ client: Int32) -> String? {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while data.count < 65_536 {
            let count = unsafe recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            data += buffer[..<count]
            if data.suffix(4) == Data("\r\n\r\n".utf8) { return String(decoding: data, as: UTF8.self) }
        }
        return nil
    }

    @discardableResult private static func send(_ client: Int32, _ data: Data) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

import InletCore
import ReferenceTools
import Testing

@testable import KinesisPlugin

/// Signatures compared with those of botocore, the signer of AWS's own command line.
@Suite(.tags(.python)) struct SigV4PeerTests {
    private static let alphabet = Array("abcXYZ019-._~!*'();:@&=+$,/?#[]% \"<>\\^`{|}äß漢🎥")

    private struct Sample {
        var request: SigV4Signer.Request
        var credentials: AWSCredentials
        var region: String
        var time: AWSTime
        var lifetime: Int
    }

    private static func pick<Element>(_ elements: [Element], _ random: inout SplitMix64) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    private static func text(_ random: inout SplitMix64, upTo longest: Int, from letters: [Character]) -> String {
        String((0..<Int.random(in: 0...longest, using: &random)).map { _ in pick(letters, &random) })
    }

    /// - Parameter isPresigned: whether the request is presigned. Names then occur once, because botocore drops further
    ///   ones.
    private static func sample(_ random: inout SplitMix64, isPresigned: Bool) -> Sample {
        let hosts = ["kinesisvideo.eu-central-1.amazonaws.com", "localhost:8080", "r-123.example.com", "[::1]:99"]
        var request = SigV4Signer.Request(
            method: pick(["GET", "POST", "PUT"], &random), host: pick(hosts, &random))
        let segments = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            text(&random, upTo: 6, from: alphabet.filter { $0 != "/" })
        }
        request.path = "/" + segments.joined(separator: "/") + (Bool.random(using: &random) ? "/" : "")
        request.query = (0..<Int.random(in: 0...5, using: &random)).map { index in
            let name = text(&random, upTo: 5, from: alphabet)
            return .init(isPresigned ? "p\(index)\(name)" : "p\(name)", text(&random, upTo: 8, from: alphabet))
        }
        if !isPresigned, let first = request.query.first { request.query += [first, .init(first.name, "")] }
        if !isPresigned {
            let letters = Array("abc019 \t,;:/=\"")
            request.headers = (0..<Int.random(in: 0...4, using: &random)).map { index in
                .init(
                    ["X-One", "x-two", "Content-Type", "X-Three"][index], "v" + text(&random, upTo: 9, from: letters))
            }
            request.headers.append(.init("User-Agent", "anybody"))
            request.body = Array(text(&random, upTo: 40, from: alphabet).utf8)
        }
        return Sample(
            request: request,
            credentials: AWSCredentials(
                accessKeyID: "AKID" + String(random.next(), radix: 36).uppercased(),
                secretAccessKey: "s/" + String(random.next(), radix: 36) + "+",
                sessionToken: Bool.random(using: &random) ? "t/" + String(random.next(), radix: 36) + "==" : nil),
            region: pick(["us-west-2", "eu-central-1", "cn-north-1"], &random),
            time: AWSTime(seconds: Int64.random(in: 0...4_000_000_000, using: &random)),
            lifetime: Int.random(in: 1...604_800, using: &random))
    }

    private static func message(_ sample: Sample, scheme: String) -> PeerValue {
        var fields: PeerMessage = [
            "method": .string(sample.request.method),
            "url": .string("\(scheme)://\(sample.request.host)\(SigV4Signer.target(sample.request))"),
            "headers": .list(sample.request.headers.map { .list([.string($0.name), .string($0.value)]) }),
            "body": .string(String(decoding: sample.request.body, as: UTF8.self)),
            "key": .string(sample.credentials.accessKeyID), "secret": .string(sample.credentials.secretAccessKey),
            "region": .string(sample.region), "service": "kinesisvideo", "time": .string(sample.time.text),
            "lifetime": .number(Double(sample.lifetime)),
        ]
        if let token = sample.credentials.sessionToken { fields["token"] = .string(token) }
        return .object(fields)
    }

    private static func signer(_ sample: Sample) -> SigV4Signer {
        SigV4Signer(credentials: sample.credentials, region: sample.region, service: "kinesisvideo")
    }

    private static func results(_ command: String, _ messages: [PeerValue]) throws -> [PeerMessage] {
        let peer = try PeerProcess("aws-signer.py", python: KinesisService.python)
        defer { peer.stop() }
        guard
            case .list(let results)? = try peer.send(command, ["requests": .list(messages)], within: .seconds(30))[
                "results"]
        else { return [] }
        return results.map { if case .object(let fields) = $0 { fields } else { [:] } }
    }

    @Test("botocore signs 400 requests with odd characters, repeated names and tokens identically")
    func headers() throws {
        var random = SplitMix64(seed: 18)
        let samples = (0..<400).map { _ in Self.sample(&random, isPresigned: false) }
        let results = try Self.results("sign", samples.map { Self.message($0, scheme: "https") })
        try #require(results.count == samples.count)
        for (sample, result) in zip(samples, results) {
            let added = Self.signer(sample).sign(sample.request, at: sample.time)
            let own = Dictionary(uniqueKeysWithValues: added.map { ($0.name, PeerValue.string($0.value)) })
            #expect(own == result, "\(sample.request)")
        }
    }

    @Test("botocore presigns 400 addresses of wss: identically, byte for byte")
    func addresses() throws {
        var random = SplitMix64(seed: 81)
        let samples = (0..<400).map { _ in Self.sample(&random, isPresigned: true) }
        let results = try Self.results("presign", samples.map { Self.message($0, scheme: "wss") })
        try #require(results.count == samples.count)
        for (sample, result) in zip(samples, results) {
            let target = Self.signer(sample).presign(sample.request, lifetime: sample.lifetime, at: sample.time)
            #expect(.string("wss://\(sample.request.host)\(target)") == result["url"], "\(sample.request)")
        }
    }
}

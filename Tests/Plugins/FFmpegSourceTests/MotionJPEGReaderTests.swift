import Foundation
import Testing

@testable import FFmpegSource

@Suite struct MotionJPEGReaderTests {
    /// A picture with the markers of a JPEG; each number gives a different one.
    private static func picture(_ number: UInt8, data: Int = 300, preview: [UInt8] = []) -> [UInt8] {
        let segment =
            [0xFF, 0xE1, UInt8((preview.count + 4) >> 8), UInt8((preview.count + 4) & 255), 1, number] + preview
        let tables: [UInt8] = [0xFF, 0xDB, 0, 4, 1, 2, 0xFF, 0xC0, 0, 5, 8, 0, 16]
        let scan: [UInt8] = [0xFF, 0xDA, 0, 4, 1, 0]
        var bytes = (0..<data).map { UInt8($0 * 7 % 251) }
        bytes += [0xFF, 0x00, 0xFF, 0xD0, 0xFF, 0xFF, 0xD1, number]
        return [0xFF, 0xD8] + segment + tables + scan + bytes + [0xFF, 0xD9]
    }

    private static func part(_ picture: [UInt8], _ header: String) -> [UInt8] {
        Array(header.utf8) + picture + Array("\r\n".utf8)
    }

    /// Returns the pictures that a reader finds in data that arrives in pieces of a size.
    private static func read(_ bytes: [UInt8], pieces: Int = 1000, most: Int = 1 << 20) -> [[UInt8]] {
        var reader = MotionJPEGReader()
        reader.mostPictureBytes = most
        var found: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            reader.append(bytes[start..<min(bytes.count, start + pieces)])
            start += pieces
            while let picture = reader.next() { found.append(picture) }
        }
        if let picture = reader.finish() { found.append(picture) }
        return found
    }

    private static let headers = [
        "", "--b\r\n\r\n", "--b\r\n--b\r\nContent-Type: image/jpeg\r\n\r\n", "Content-Length: 329\r\n\r\n",
        "--b\r\nContent-Length 5\r\ncontent-length:\t329 \r\n\r\n", "--b\r\nContent-Length: 20\r\n\r\n",
        "--b\r\nContent-Length: 99999999999999999999\r\n\r\n", "--b\r\nContent-Length: -4\r\n\r\n",
        "--b\nContent-Type: image/jpg\n\n", "\r\n\r\n--b\r\nX: \u{FF}\r\n\r\n",
    ]

    @Test("Pictures are found whatever the parts state, in pieces of any size", arguments: headers)
    func framings(_ header: String) {
        let pictures = (0..<5).map { Self.picture($0) }
        let bytes = pictures.flatMap { Self.part($0, header) }
        for pieces in [1, 2, 3, 7, 100, 331, bytes.count] {
            #expect(Self.read(bytes, pieces: pieces) == pictures, "\(pieces)")
        }
    }

    @Test("Data in which every third byte looks like a picture costs little more than any other")
    func hostile() {
        func cost(_ bytes: [UInt8]) -> Double {
            let start = clock()
            _ = Self.read(Array("--b\r\n\r\n".utf8) + [0xFF, 0xD8, 0xFF, 0xDB, 0, 4] + bytes, pieces: 16_384)
            return Double(clock() - start)
        }
        let plain = cost([UInt8](repeating: 0, count: 300_000))
        // Without boundaries and line ends, with line ends, and after a picture whose part is stated to continue.
        for unit in [[0xFF, 0xD8, 1], [0xFF, 0xD8, 10]] as [[UInt8]] {
            #expect(cost((0..<100_000).flatMap { _ in unit }) < plain * 100)
        }
        let part = Self.part(Self.picture(1), "--b\r\nContent-Length: 900000\r\n\r\n")
        #expect(cost(part + (0..<100_000).flatMap { _ in [0xFF, 0xD8, 0xFF] as [UInt8] }) < plain * 100)
    }

    @Test("Previews in a segment or after the picture are not pictures of the stream")
    func previews() {
        let pictures = (0..<4).map { Self.picture($0, preview: Self.picture(99, data: 20)) }
        let bytes = pictures.flatMap { picture in
            let content = picture + Self.picture(77, data: 50)
            return Self.part(content, "--b\r\nContent-Length: \(content.count)\r\n\r\n")
        }
        #expect(Self.read(bytes) == pictures)
        #expect(Self.read(bytes, pieces: 1) == pictures)
    }

    @Test("A length that is too long hides no picture of the next part")
    func longLength() {
        let pictures = (0..<5).map { Self.picture($0) }
        let bytes = pictures.flatMap { Self.part($0, "--b\r\nContent-Length: 2000\r\n\r\n") }
        #expect(Self.read(bytes) == pictures)
    }

    @Test("A picture without an end of image ends at its length", arguments: [1, 50, 5000])
    func withoutEnd(pieces: Int) {
        let pictures = (0..<4).map { Array(Self.picture($0).dropLast(2)) }
        let bytes = pictures.flatMap { Self.part($0, "--b\r\nContent-Length: \($0.count)\r\n\r\n") }
        #expect(Self.read(bytes + Array("--b--".utf8), pieces: pieces) == pictures)
    }

    @Test(
        "A truncated picture is returned as far as it goes, and the next one is complete",
        arguments: ["", "--b\r\n\r\n"])
    func cut(_ header: String) throws {
        let pictures = (0..<4).map { Self.picture($0) }
        let end = header.isEmpty ? [] : Array("\r\n".utf8)
        var bytes: [UInt8] = []
        for (number, picture) in pictures.enumerated() {
            bytes += Array(header.utf8) + (number == 1 ? Array(picture.prefix(200)) : picture) + end
        }
        for pieces in [1, 90, 5000] {
            let found = Self.read(bytes, pieces: pieces)
            try #require(found.count == 4)
            #expect(found[1] == Array(pictures[1].prefix(200)))
            #expect([found[0], found[2], found[3]] == [pictures[0], pictures[2], pictures[3]])
        }
    }

    @Test("The end of the data truncates the picture that is read")
    func end() {
        let picture = Self.picture(1)
        #expect(Self.read(picture + picture.prefix(100)) == [picture, Array(picture.prefix(100))])
        #expect(Self.read([0xFF, 0xD8, 0xFF]).isEmpty && Self.read([]).isEmpty)
    }

    @Test("Damaged data that looks like a start of image ends no picture of a multipart stream")
    func damagedByte() {
        var damaged = Self.picture(1)
        damaged.replaceSubrange(200..<203, with: [0xFF, 0xD8, 0xFF])
        let pictures = [Self.picture(0), damaged, Self.picture(2)]
        #expect(Self.read(pictures.flatMap { Self.part($0, "--b\r\n\r\n") }) == pictures)
    }

    @Test("Memory is bounded for an endless picture, and for data without a picture")
    func bounds() {
        let endless = [0xFF, 0xD8, 0xFF, 0xC0, 0, 2] + [UInt8](repeating: 7, count: 100_000)
        let next = Self.picture(3)
        let found = Self.read(endless + Array("\r\n--b\r\n".utf8) + next, most: 50_000)
        #expect(found.count == 2 && found.last == next && found.first?.count == 4096)
        var reader = MotionJPEGReader()
        reader.mostOtherBytes = 20_000
        for _ in 0..<20 {
            #expect(!reader.isHopeless)
            reader.append([UInt8](repeating: 0xFF, count: 1000))
            #expect(reader.next() == nil)
        }
        for _ in 0..<6 {
            reader.append([UInt8](repeating: 0xD8, count: 1000))
            #expect(reader.next() == nil)
        }
        #expect(reader.isHopeless)
    }

    @Test("Changed bytes stop no reader, and complete pictures follow", arguments: UInt64(1)...40)
    func mutated(seed: UInt64) {
        var random = seed
        func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % bound
        }
        var bytes = (0..<8).flatMap { Self.part(Self.picture($0), Self.headers[next(Self.headers.count)]) }
        for _ in 0..<20 {
            switch next(3) {
            case 0: bytes[next(bytes.count)] = UInt8(next(256))
            case 1: bytes[next(bytes.count)] = 0xFF
            default: bytes.remove(at: next(bytes.count))
            }
        }
        let whole = (10..<13).map { Self.picture($0) }
        let found = Self.read(bytes + whole.flatMap { Self.part($0, "--b\r\n\r\n") }, pieces: 1 + next(500))
        #expect(found.suffix(2) == whole.suffix(2))
    }
}

@Suite struct MotionJPEGContentTests {
    private static let picture: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]

    @Test(
        "A stream of pictures is recognized by its type, or by its beginning",
        arguments: [
            ("multipart/x-mixed-replace; boundary=b", [], true), ("Multipart/Mixed", [1, 2], true),
            ("video/x-motion-jpeg", [], true), ("", picture, true), ("text/plain", picture, true),
            ("", Array("\r\n--b".utf8), true), ("video/mp4", [0, 0, 0, 32], false), ("", [0xFF, 0xD8], false),
            ("", [], false),
        ] as [(String, [UInt8], Bool)])
    func stream(_ type: String, _ beginning: [UInt8], _ isStream: Bool) {
        #expect(MotionJPEGContent(beginning, contentType: type).isStream == isStream)
    }

    @Test(
        "A still picture is recognized by its type, or by its length if it has no type",
        arguments: [
            ("image/jpeg", picture, false, true), ("image/jpg; q=1", picture, true, true), ("", picture, true, true),
            ("", picture, false, false), ("video/mjpeg", picture, true, false),
            ("image/png", [0x89, 0x50], true, false),
            ("multipart/x-mixed-replace", picture, true, false), ("application/octet-stream", picture, true, false),
        ] as [(String, [UInt8], Bool, Bool)])
    func still(_ type: String, _ beginning: [UInt8], _ hasLength: Bool, _ isStill: Bool) {
        #expect(MotionJPEGContent(beginning, contentType: type).isStill(hasLength: hasLength) == isStill)
    }
}

@Suite struct HTTPValidatorsTests {
    @Test("A server's stated version is repeated to it, unless it could be another header")
    func headers() {
        var answer = HTTPAnswer()
        for line in ["HTTP/1.1 200 OK", "ETag: W/\"a, b\"", "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT", ""] {
            answer.add(line + "\r\n")
        }
        #expect(
            answer.validators.headers == [
                "If-None-Match: W/\"a, b\"", "If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT",
            ])
        #expect(HTTPValidators().headers.isEmpty)
        for value in ["", "a\rb", "a\u{1}", "caf\u{E9}", String(repeating: "a", count: 1025)] {
            #expect(HTTPValidators.checked(value) == nil)
        }
    }
}

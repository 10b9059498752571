import Foundation

/// The stages of `Scripts/test` are the tags of suites: each tag has a stage, and each tagged suite is found by it.
enum StageRule {
    /// A suite by its module and name, such as `WebRTCSinkTests.ViewerPeerTests`, and its tags.
    struct Suite: Equatable {
        var name: String
        var tags: [String]
        var isNested: Bool
    }

    /// What tests of the first stage have not: `Scripts/bootstrap --fast-test` does not install what these start.
    static let peers = [
        "RTSPServer", "RTSPScript", "RTSPRelay", "RTSPTunnel", "NginxServer", "VLCServer", "VLCPlayer", "FFmpegSender",
        "MJPEGServer", "HLSBrowser",
        "StreamReceiver", "TURNServer", "WHIPServer", "SRTTransmitter", "AddressServer", "FaultProxy", "VirtualCamera",
        "ViewerRun", "STUNServer",
    ]

    /// The tags that a text declares.
    static func declaredTags(in text: String) -> [String] {
        SwiftText.code(of: text).matches(of: /@Tag\s+(?:public\s+)?static\s+var\s+(\w+)/).map { String($0.output.1) }
    }

    /// The suites that a file of tests declares with `@Suite`.
    static func suites(in file: HouseTree.File) -> [Suite] {
        let code = SwiftText.code(of: file.text)
        let declarations = code.matches(of: /(?m)^( *)@Suite\b([^{}]*?)\bstruct\s+(\w+)/)
        return declarations.map { declaration in
            let tags = declaration.output.2.matches(of: /\.tags\(([^)]*)\)/).flatMap { list in
                list.output.1.split { ", .".contains($0) }.map(String.init)
            }
            // What stands in an extension is nested; what a condition encloses is indented, too.
            let isNested = code[..<declaration.range.lowerBound].contains(/(?m)^ *extension\s/)
            return Suite(name: "\(file.module).\(declaration.output.3)", tags: tags, isNested: isNested)
        }
    }

    /// Suites with several tags, or with one that nested suites of others would be run without.
    static func check(_ file: HouseTree.File) -> [Violation] {
        suites(in: file).compactMap { suite in
            if suite.tags.count > 1 {
                return Violation(path: file.path, message: "\(suite.name) is in several stages: \(suite.tags)")
            }
            if suite.isNested, !suite.tags.isEmpty {
                let message = "\(suite.name) is nested: its tag belongs to the outer suite"
                return Violation(path: file.path, message: message)
            }
            return nil
        }
    }

    /// Files whose tests start a peer, and whose suites are in the first stage all the same.
    ///
    /// - Parameter tagged: the names of all suites that have a tag, without their modules.
    static func checkPeers(_ file: HouseTree.File, tagged: Set<String>) -> [Violation] {
        let code = SwiftText.code(of: file.text)
        guard code.contains("@Test") else { return [] }
        let words = Set(SwiftText.words(of: code).map(String.init))
        guard let peer = peers.first(where: words.contains) else { return [] }
        let outer = code.matches(of: /(?m)^ *extension\s+(\w+)/).map { String($0.output.1) }
        let own = suites(in: file).filter { !$0.isNested }.map { String($0.name.split(separator: ".")[1]) }
        if (outer + own).contains(where: tagged.contains) { return [] }
        return [Violation(path: file.path, message: "its tests use \(peer), so their suite needs a tag of a stage")]
    }
}

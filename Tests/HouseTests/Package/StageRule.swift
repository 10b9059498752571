import Foundation

/// Each tag of a suite has a stage in `Scripts/gate/stages.py`, and suites that start servers have a tag.
enum StageRule {
    /// A suite by its name, such as `ViewerPeerTests`, and its tags.
    struct Suite: Equatable {
        var name: String
        var tags: [String]
    }

    /// Peers that `Scripts/bootstrap --fast-test` does not install.
    static let peers = [
        "RTSPServer", "RTSPScript", "RTSPRelay", "RTSPTunnel", "NginxServer", "VLCServer", "VLCPlayer", "FFmpegSender",
        "MJPEGServer", "MJPEGScript", "HLSBrowser",
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
        return code.matches(of: /@Suite\b([^{}]*?)\bstruct\s+(\w+)/).map { declaration in
            let tags = declaration.output.1.matches(of: /\.tags\(([^)]*)\)/).flatMap { list in
                list.output.1.split { ", .".contains($0) }.map(String.init)
            }
            return Suite(name: String(declaration.output.2), tags: tags)
        }
    }

    /// Files whose tests start a peer although none of their suites has a tag.
    ///
    /// - Parameter tagged: the names of all suites that have a tag.
    static func checkPeers(_ file: HouseTree.File, tagged: Set<String>) -> [Violation] {
        let code = SwiftText.code(of: file.text)
        guard code.contains("@Test") else { return [] }
        let words = Set(SwiftText.words(of: code).map(String.init))
        guard let peer = peers.first(where: words.contains) else { return [] }
        let outer = code.matches(of: /(?m)^ *extension\s+(\w+)/).map { String($0.output.1) }
        let own = suites(in: file).map(\.name)
        if (outer + own).contains(where: tagged.contains) { return [] }
        let message = "Its tests use \(peer): give their suite the tag of what they need."
        return [Violation(path: file.path, message: message)]
    }
}

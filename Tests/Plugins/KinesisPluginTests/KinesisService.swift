import Foundation
import InletCore
import ReferenceTools

@testable import KinesisPlugin

/// A local Kinesis Video service with aiohttp, whose signatures and requests botocore checks, with aiortc viewers and
/// an aiortc master.
final class KinesisService: Sendable {
    /// The process, for its commands and its log.
    let process: PeerProcess
    /// The address of the channel API, and of services of credentials.
    let endpoint: String
    /// The same over HTTPS.
    let secureEndpoint: String
    /// The PEM file of its certificate authority.
    let authority: String

    /// The region that it signs for.
    static let region = "eu-test-1"
    /// A permanent key that it knows.
    static let variables = ["AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "secret/of+test"]
    /// The interpreter with the packages of `Tests/Peers/requirements.txt`.
    static let python = PeerProcess.python

    /// Starts the service with a channel and waits until it listens.
    ///
    /// - Parameter channel: the name of its channel; nil for none.
    init(channel: String? = "porch") throws {
        process = try PeerProcess("kinesis-service.py", python: Self.python)
        endpoint = process.ready["endpoint"]?.text ?? ""
        secureEndpoint = process.ready["secure"]?.text ?? ""
        authority = process.ready["authority"]?.text ?? ""
        if let channel { try process.send("channel", ["name": .string(channel)]) }
    }

    /// Ends the service at once.
    func stop() { process.stop() }

    /// The numbers that an aiortc peer has read once it has the given count, or after half a minute.
    func wait(_ count: Int, client: String = "") throws -> PeerMessage {
        try process.send(
            "wait", ["count": .number(Double(count)), "client": .string(client)], within: .seconds(40))
    }

    /// A channel of it.
    func configuration(_ channel: String = "porch") -> KinesisConfiguration {
        var configuration = KinesisConfiguration(channel: channel)
        configuration.region = Self.region
        configuration.endpoint = endpoint
        configuration.authorities = authority
        configuration.backOff = .milliseconds(50)
        return configuration
    }
}

#if GStreamer
extension KinesisService {
    /// The process's environment with other variables and files, without those of this machine, and without waits.
    static func environment(
        _ variables: [String: String] = variables, files: [String: String] = [:], now: Int64? = nil
    ) -> AWSEnvironment {
        var environment = AWSEnvironment.process
        var all = ["AWS_EC2_METADATA_DISABLED": "true", "HOME": "/home/nobody"]
        all.merge(variables) { $1 }
        let variables = all
        environment.variable = { variables[$0] }
        environment.file = { (path: String) throws(InletError) in files[path] }
        environment.programOutcomes = SharedOutcomes()
        if let now { environment.now = { now } }
        return environment
    }
}
#endif

import Foundation
import InletCore

/// The `ffmpeg` command on raw pictures: the origin of the tests' pictures and expected results.
struct FFmpegCommand {
    /// The conversion of one picture.
    struct Job {
        var format: String
        var size: ImageSize
        var bytes: [UInt8] = []
        var filter: String
    }

    /// The flags that make swscale exact.
    static let exact = "flags=accurate_rnd+full_chroma_int"
    /// The same flags, with each sample the mean of those that it covers.
    static let exactMean = "flags=area+accurate_rnd+full_chroma_int"

    /// One picture of a `lavfi` source, converted to each job's format by its filter.
    static func draw(_ source: String, _ jobs: [Job]) throws -> [[UInt8]] {
        try run(jobs, inputs: ["-f", "lavfi", "-i", source]) { _ in ["-map", "0:v"] }
    }

    /// Each job's bytes, read as a raw picture of its format and size, and converted to packed yuv420p by its filter.
    static func i420(_ jobs: [Job]) throws -> [[UInt8]] {
        try withDirectory { directory in
            var inputs: [String] = []
            for (index, job) in jobs.enumerated() {
                let url = directory.appending(path: "in\(index)")
                try Data(job.bytes).write(to: url)
                inputs += ["-f", "rawvideo", "-pix_fmt", job.format, "-s", "\(job.size)", "-i", url.path]
            }
            let outputs = jobs.map { job in
                var job = job
                job.format = "yuv420p"
                return job
            }
            return try run(outputs, inputs: inputs) { ["-map", "\($0):v"] }
        }
    }

    private static func run(_ jobs: [Job], inputs: [String], map: (Int) -> [String]) throws -> [[UInt8]] {
        try withDirectory { directory in
            var arguments = ["-v", "error", "-nostdin", "-y", "-filter_threads", "1"] + inputs
            let outputs = jobs.indices.map { directory.appending(path: "out\($0)") }
            for (index, job) in jobs.enumerated() {
                arguments += map(index) + ["-frames:v", "1", "-vf", job.filter + ",format=\(job.format)"]
                arguments += ["-f", "rawvideo", outputs[index].path]
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["ffmpeg"] + arguments
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let text = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw Failure(message: String(decoding: text, as: UTF8.self))
            }
            return try outputs.map { [UInt8](try Data(contentsOf: $0)) }
        }
    }

    private static func withDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try body(directory)
    }

    struct Failure: Error { var message: String }
}

public import Foundation

/// What FFmpeg's muxer `framemd5` writes: a line for each picture, the last field of which is the picture's MD5.
public enum FrameSums {
    /// Returns the MD5 of each picture.
    public static func sums(of text: Data) -> [String] { sums(of: String(decoding: text, as: UTF8.self)) }

    /// Returns the MD5 of each picture.
    public static func sums(of text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            line.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
        }
    }
}

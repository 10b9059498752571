public import Foundation

/// The output of FFmpeg's muxer `framemd5`: one line for each picture, whose last field is the picture's MD5.
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

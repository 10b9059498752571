@testable import InletPluginLoader

/// Manifests for tests: a valid one, with parts replaced.
enum ManifestText {
    /// A manifest with every key.
    static let whole = """
        {
          "$schema": "inlet-plugin.schema.json",
          "inlet-plugin": 1,
          "name": "acme-camera",
          "version": "2.4.1",
          "license": "LicenseRef-Acme OR MIT",
          "summary": "Cameras of Acme.",
          "library": "lib/acme.so",
          "sources": [
            {
              "schemes": ["acme", "acme+usb"],
              "usage": "acme:SERIAL",
              "options": [
                { "name": "size", "type": "size", "default": "1280x720", "minimum": "16x16", "maximum": "4096x2160",
                  "summary": "Picture size" },
                { "name": "rate", "type": "rational", "default": 30, "minimum": 1, "maximum": "240/1",
                  "unit": "frames a second", "summary": "Frame rate" },
                { "name": "gain", "type": "number", "default": 1.5, "minimum": 0, "maximum": 24, "unit": "dB",
                  "summary": "Gain" },
                { "name": "lines", "type": "integer", "minimum": -1, "summary": "Lines" },
                { "name": "flip", "type": "boolean", "default": false, "summary": "Upside down" },
                { "name": "wait", "type": "duration", "default": "1.5s", "maximum": "1m", "summary": "Wait" },
                { "name": "mode", "type": "choice", "default": "day", "choices": ["day", "night"], "summary": "Mode" },
                { "name": "label", "type": "text", "default": "", "summary": "Label" },
                { "name": "password", "type": "secret", "summary": "Password" },
                { "name": "calibration", "type": "path", "summary": "A file" }
              ],
              "examples": ["acme:1234", "acme+usb:?size=640x480&password-env=ACME"]
            }
          ],
          "sinks": [ { "schemes": ["acme"], "usage": "acme:WALL" } ],
          "permissions": ["network", "devices", "files:/etc/acme"],
          "memory": "512MB"
        }
        """

    /// The smallest valid manifest.
    static let least = """
        {"inlet-plugin": 1, "name": "bars", "version": "1", "license": "MIT", "summary": "Bars.", "library": "bars.so",
         "sources": [{"schemes": ["bars"], "usage": "bars:"}]}
        """

    /// Returns the problems of a text as a plug-in's manifest.
    static func problems(_ text: String, name: String = "bars") -> [String] {
        PluginManifest.check(Array(text.utf8), file: "/plugins/\(name).inlet.json").problems
    }

    /// Returns the problems of the smallest manifest with a part replaced.
    static func problems(replacing part: String, with other: String) -> [String] {
        problems(least.replacing(part, with: other))
    }

    /// Returns the problems of the smallest manifest with an option.
    static func problems(option: String) -> [String] {
        problems(
            replacing: "\"usage\": \"bars:\"", with: "\"usage\": \"bars:\", \"options\": [{\(option)}]")
    }
}

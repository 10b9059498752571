import Testing

@Suite struct ConfigurationSecretTests {
    /// Errors cut long text, and a password that has lost its end could not be recognized.
    @Test(
        "An address in the wrong place is quoted without its password, however long that is",
        arguments: [
            "cameras:\n  door: {'ADDRESS': }\n", "cameras:\n  door: {'ADDRESS': x, source: 'pattern:'}\n",
            "cameras:\n  'ADDRESS': 'pattern:'\n", "cameras: {door: 'pattern:'}\n'ADDRESS': x\n",
            "cameras:\n  'ADDRESS': 'pattern:'\n  'ADDRESS': 'pattern:'\n",
            "server: {listen: 'ADDRESS'}\ncameras: {door: 'pattern:'}\n",
            "cameras: {door: {source: 'pattern:', outage: 'ADDRESS'}}\n",
        ], [8, 70, 500])
    func address(text: String, length: Int) {
        let password = String(repeating: "hunter2-", count: length / 8 + 1)
        let text = text.replacing("ADDRESS", with: "rtsp://admin:\(password)@camera/main")
        let complaints = ConfigurationReaderTests.complaints(text)
        #expect(!complaints.isEmpty)
        #expect(!complaints.contains { $0.contains("hunter2") || $0.contains("admin") }, "\(complaints)")
    }
}

import InletCore
import Testing

@Suite struct OptionValueTests {
    private func read<Value: OptionValue>(_ text: String, as type: Value.Type = Value.self) -> Value? {
        Value(optionText: text)
    }

    @Test("Yes and no are read in the usual words")
    func bool() {
        for text in ["true", "YES", "on", "1"] { #expect(read(text, as: Bool.self) == true) }
        for text in ["false", "No", "off", "0"] { #expect(read(text, as: Bool.self) == false) }
        for text in ["", "2", "ja", "true "] { #expect(read(text, as: Bool.self) == nil) }
    }

    @Test("Whole numbers are read; fractions, blanks and overflows are not")
    func integers() {
        #expect(read("-12", as: Int.self) == -12)
        #expect(read("18446744073709551615", as: UInt64.self) == .max)
        for text in ["", "1.5", " 1", "0x10", "9223372036854775808", "1e3"] { #expect(read(text, as: Int.self) == nil) }
        #expect(read("-1", as: UInt64.self) == nil)
    }

    @Test("Numbers are finite")
    func doubles() {
        #expect(read("0.25", as: Double.self) == 0.25)
        for text in ["", "nan", "inf", "-infinity", "1e999", "1,5"] { #expect(read(text, as: Double.self) == nil) }
    }

    @Test(
        "Sizes are read as WIDTHxHEIGHT",
        arguments: [
            ("1280x720", ImageSize(width: 1280, height: 720)), ("1X1", ImageSize(width: 1, height: 1)),
            ("0x0", ImageSize(width: 0, height: 0)), ("1280", nil), ("1280x", nil), ("x720", nil), ("1x2x3", nil),
            ("", nil), ("1280 x 720", nil), ("1280*720", nil), ("99999999999999999999x1", nil),
        ] as [(String, ImageSize?)])
    func sizes(text: String, expected: ImageSize?) {
        #expect(read(text) == expected)
    }

    @Test(
        "Rates are read as a number, a ratio or a decimal, exactly",
        arguments: [
            ("25", Rational(25)), ("30000/1001", Rational(30000, 1001)), ("29.97", Rational(2997, 100)),
            ("0.5", Rational(1, 2)), ("-0.5", Rational(-1, 2)), (".5", Rational(1, 2)), ("12.500000", Rational(25, 2)),
            ("60/-2", Rational(-30)), ("0/5", Rational(0)), ("1/0", nil), ("1/2/3", nil), ("", nil), ("/", nil),
            ("a", nil), ("1.2.3", nil), ("1.-5", nil), ("1.1234567", nil), ("2147483648", nil), ("1/4294967296", nil),
            ("1e3", nil), ("nan", nil), ("½", nil), ("1.½", nil), ("-2147483648/-1", nil),
        ] as [(String, Rational?)])
    func rates(text: String, expected: Rational?) {
        #expect(read(text) == expected)
    }

    @Test(
        "Durations are read with their unit; a bare number is seconds",
        arguments: [
            ("5s", Duration.seconds(5)), ("200ms", .milliseconds(200)), ("1.5s", .milliseconds(1500)),
            ("10us", .microseconds(10)), ("7ns", .nanoseconds(7)), ("2m", .seconds(120)), ("1h", .seconds(3600)),
            ("3", .seconds(3)), ("0.1", .milliseconds(100)), ("0", .zero), ("-1s", .seconds(-1)),
            ("", nil), ("s", nil), ("ms", nil), ("5 s", nil), ("5x", nil), ("1e12s", nil), ("nan", nil), ("infs", nil),
            ("5sec", nil),
        ] as [(String, Duration?)])
    func durations(text: String, expected: Duration?) {
        #expect(read(text) == expected)
    }

    @Test(
        "A duration is written in its largest whole unit",
        arguments: [
            (Duration.seconds(5), "5s"), (.milliseconds(1500), "1500ms"), (.microseconds(10), "10us"),
            (.nanoseconds(7), "7ns"), (.zero, "0s"), (.seconds(-2), "-2s"),
        ])
    func durationText(duration: Duration, expected: String) {
        #expect(duration.optionText == expected)
        #expect(Duration(optionText: expected) == duration)
    }

    @Test("A written value can be read again")
    func roundTrips() {
        #expect(Rational(optionText: Rational(30000, 1001).optionText) == Rational(30000, 1001))
        #expect(ImageSize(optionText: ImageSize(width: 3, height: 4).optionText) == ImageSize(width: 3, height: 4))
        #expect(Double(optionText: 0.1.optionText) == 0.1)
        #expect(Bool(optionText: false.optionText) == false)
        #expect(String(optionText: "a b".optionText) == "a b")
    }

    @Test("A choice accepts only its words, and lists them")
    func choices() {
        #expect(SourcePacing(optionText: "none") == .unpaced)
        #expect(SourcePacing(optionText: "unpaced") == nil)
        #expect(SourcePacing.typeDescription == "live | realtime | none")
    }

    @Test("An optional value is nil by default and otherwise of its type")
    func optionals() {
        #expect(Int?.none.optionText == "")
        #expect(Int?(7).optionText == "7")
        #expect(Int?(optionText: "7") == .some(.some(7)))
        #expect(Int?(optionText: "x") == nil)
        #expect(Int?.typeDescription == "integer")
    }
}

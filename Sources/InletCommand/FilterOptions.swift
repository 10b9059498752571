import ArgumentParser
import Inlet

/// The filters that the command line turns on or off for every sink.
struct FilterOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Make whole pictures of interlaced ones. The default is each sink's: on for stills and pages.")
    var deinterlace: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Map high dynamic range to what ordinary displays show. The default is each sink's, as above.")
    var toneMap: Bool?

    private var given: [(filter: PictureFilters, isOn: Bool?)] {
        [(.deinterlacing, deinterlace), (.toneMapping, toneMap)]
    }

    /// Whether any is given.
    var areGiven: Bool { given.contains { $0.isOn != nil } }

    /// Whether any is turned on.
    var areAdded: Bool { given.contains { $0.isOn == true } }

    /// Changes a sink's filters as the command line requests.
    func apply(to filters: inout PictureFilters) {
        for (filter, isOn) in given {
            switch isOn {
            case true?: filters.insert(filter)
            case false?: filters.remove(filter)
            case nil: break
            }
        }
    }
}

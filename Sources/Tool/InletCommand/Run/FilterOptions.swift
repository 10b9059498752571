import ArgumentParser
import Inlet

/// The filters that the command line turns on or off for every sink.
struct FilterOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Deinterlace pictures. The default depends on the sink: on for stills and pages.")
    var deinterlace: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Map high dynamic range to the range of ordinary displays. The default depends on the sink, as above.")
    var toneMap: Bool?

    private var given: [(filter: PictureFilters, isOn: Bool?)] {
        [(.deinterlacing, deinterlace), (.toneMapping, toneMap)]
    }

    /// Whether any filter is given.
    var areGiven: Bool { given.contains { $0.isOn != nil } }

    /// Whether any filter is turned on.
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

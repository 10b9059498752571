/// The counters of a depacketizer. They only grow.
package struct DepacketizerStatistics: Sendable, Hashable {
    /// Access units returned.
    package var units = 0
    /// Units of which a part was missing.
    package var damagedUnits = 0
    /// Damaged units that were not returned.
    package var droppedUnits = 0
    /// Whole units of H.265 that were not returned because a picture that they refer to is missing.
    package var withoutReferences = 0
    /// Units of H.265 that were not returned because they precede, when shown, the key picture at which decoding began.
    package var leadingPictures = 0
    /// Losses that are proven to concern pictures to which no other refers.
    package var lostNonReference = 0
    /// Units dropped because they exceed a limit of size or number.
    package var tooLarge = 0
    /// Units dropped because their consumers hold all memory, or take no units.
    package var noMemory = 0
    /// Payloads, or parts of them, that do not conform to their format.
    package var malformed = 0
    /// Payloads of a kind that is not read: interleaved ones of H.264, PACI of H.265, unknown types.
    package var unsupported = 0
    /// JPEG pictures dropped because their header refers to that of the picture before, as ONVIF's extension allows.
    package var incompleteHeaders = 0
    /// Parameter sets that were not kept because they are too large or too many.
    package var refusedParameterSets = 0
    /// Markers within a picture.
    package var sliceMarkers = 0
    /// Markers on packets without a picture, such as parameter sets.
    package var markersWithoutPicture = 0
    /// Markers on a fragment that is not the last of its NAL unit.
    package var markersInFragments = 0
    /// Parts of pictures that came after their picture had been returned as complete.
    package var latePictureParts = 0
    /// Pictures that ended without a marker.
    package var missingMarkers = 0
    /// Pictures that counted as complete because the stream was quiet.
    package var quietEnds = 0
    /// Times that parameter sets and the like had another timestamp than their picture.
    package var adoptedTimestamps = 0
    /// NAL units sent as a single fragment.
    package var wholeFragments = 0
    /// Fragments dropped because the first of their NAL unit is missing.
    package var fragmentsWithoutStart = 0
    /// Fragmented NAL units whose last fragment is not marked.
    package var fragmentsWithoutEnd = 0
    /// Start codes within payloads.
    package var startCodes = 0

    /// Packets of the video of transport streams with content that was read.
    package var videoTransportPackets = 0
    /// Packets of transport streams that are malformed or marked as damaged, and places where none was found.
    package var malformedTransportPackets = 0
    /// Packets of the video of transport streams whose content is encrypted.
    package var scrambledTransportPackets = 0
    /// Packets of the video of transport streams that came twice.
    package var repeatedTransportPackets = 0
    /// Packets of the video of transport streams that are missing by their counters.
    package var lostTransportPackets = 0
    /// Sections of transport streams, such as program maps, with a wrong check or size.
    package var malformedSections = 0

    package init() {}
}

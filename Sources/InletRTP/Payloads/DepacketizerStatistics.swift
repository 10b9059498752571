/// Counts of what a depacketizer has met. They only grow.
package struct DepacketizerStatistics: Sendable, Hashable {
    /// Access units returned.
    package var units = 0
    /// Units of which a part was missing.
    package var damagedUnits = 0
    /// Damaged units that were not returned.
    package var droppedUnits = 0
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
    /// Parameter sets that were not kept because they are too large or too many.
    package var refusedParameterSets = 0
    /// Markers within a picture.
    package var sliceMarkers = 0
    /// Markers on what is no picture, such as parameter sets.
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

    package init() {}
}

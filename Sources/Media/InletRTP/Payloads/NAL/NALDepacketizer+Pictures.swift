/// The ends of pictures, and losses.
extension NALDepacketizer {
    /// Finishes the picture.
    ///
    /// - Parameter place: where the next picture begins; nil for the end of the bytes.
    mutating func endPicture(
        _ end: PictureEndPolicy.End, upTo place: Int? = nil, _ builder: inout AccessUnitBuilder
    ) {
        let picture = picture
        self.picture = Picture()
        isHeld = false
        quietDeadline = nil
        guard builder.isOpen else { return }
        let (oldEnd, size) = (builder.end, builder.count)
        let verdict = judge(picture, builder)
        let needsSets = needsParameterSets(picture, builder)
        if needsSets {
            sets.join()
            builder.insert(sets.annexB.rawBytes, behind: picture.delimiterSize)
        }
        if verdict == .decodable(separates: true) { builder.insert(Self.endOfSequence.rawBytes, behind: 0) }
        let hasSets = needsSets || picture.kinds != 0
        let isHarmless = !isHEVC && tracker.isHarmless(before: picture.number)
        let timestamp = builder.timestamp
        var facts = AccessUnitBuilder.Facts()
        facts.isKey = picture.isKey
        facts.recoveryFrames = picture.recoveryFrames
        facts.isIntra = picture.isIntra
        facts.isReference = picture.isReference
        facts.isDamaged = picture.isDamaged
        switch verdict {
        case .decodable: break
        case .lacksReferences: facts.dropped = \.withoutReferences
        case .leading: facts.dropped = \.leadingPictures
        case .unknown:
            facts.isAfterLoss = tracker.hasLoss && !isHarmless || references.isActive && references.mayBeWrong
        }
        facts.hasNewParameterSets = sets.isChanged && hasSets
        // The insertion moved the rest only if the room before it was too small.
        let moved = builder.end - oldEnd
        let isReturned = builder.finish(facts, upTo: place.map { $0 + moved })
        if isHEVC, isReturned || facts.dropped != nil {
            references.note(picture.header, at: timestamp, verdict, isReturned: isReturned)
        }
        if isReturned {
            if tracker.hasLoss, isHarmless { builder.statistics.lostNonReference &+= 1 }
            tracker.noteUnit(picture.number, isReference: picture.isReference)
            if hasSets { sets.isChanged = false }
            last = (end, timestamp, picture.isReference)
        } else if facts.dropped != nil {
            if verdict == .lacksReferences { tracker.noteReferenceLoss() }
            last = (end, timestamp, picture.isReference)
        } else {
            noteDropped(picture, &builder)
        }
        guard !picture.isDamaged else { return }
        if !picture.hasMarker, end != .streamEnd { builder.statistics.missingMarkers &+= 1 }
        policy.noteEnd(end, slices: picture.slices, size: size, hadMarker: picture.hasMarker)
    }

    /// An end of sequence: H.265, section 7.4.2.2 and table 7-1. The picture after it does not refer to earlier ones.
    static let endOfSequence: [UInt8] = [0, 0, 0, 1, 36 << 1, 1]

    /// Returns the verdict on an H.265 picture's references. It counts only if damaged pictures are dropped: otherwise
    /// the decoder also has the damaged pictures.
    private mutating func judge(_ picture: Picture, _ builder: AccessUnitBuilder) -> HEVCReferences.Verdict {
        guard isHEVC, !picture.isDamaged, builder.settings.damage == .drop else { return .unknown }
        if picture.recoveryFrames != nil, !picture.isKey { references.noteGradualRefresh() }
        return references.judge(picture.header, at: builder.timestamp)
    }

    /// Whether a picture at which decoding can start, or the first after a change, lacks parameter sets. A decoder gets
    /// all of them or none.
    private func needsParameterSets(_ picture: Picture, _ builder: AccessUnitBuilder) -> Bool {
        guard sets.size > 0, !builder.isRefused, !builder.isFull, builder.count > 0 else { return false }
        guard !picture.isDamaged || builder.settings.damage == .pass else { return false }
        let all: UInt8 = isHEVC ? 0b111 : 0b110
        guard picture.kinds & all != all else { return false }
        return picture.isKey || picture.recoveryFrames != nil || sets.isChanged
    }

    private mutating func noteDropped(_ picture: Picture, _ builder: inout AccessUnitBuilder) {
        last = nil
        references.noteLoss()
        if picture.isReference == false, !picture.hasLossAtEdge {
            builder.statistics.lostNonReference &+= 1
            return
        }
        tracker.noteLoss(picture.lostInside)
        if !tracker.hasLoss { tracker.noteLoss(1) }
        // Without frame numbers nothing else would show it.
        if isHEVC || picture.isReference == true { tracker.noteReferenceLoss() }
    }

    /// Packets before this one are missing.
    mutating func noteLoss(_ count: Int, timestamp: UInt32, _ builder: inout AccessUnitBuilder) {
        references.noteLoss()
        let isSamePicture = builder.isOpen && builder.timestamp == timestamp
        if unit.isOpen { abandonUnit(&builder) }
        if builder.isOpen, picture.hasSlice {
            picture.isDamaged = true
            guard !isSamePicture else {
                picture.lostInside = picture.lostInside.addingReportingOverflow(count).partialValue & Int.max
                return
            }
            picture.hasLossAtEdge = true
        } else if builder.isOpen, !isSamePicture {
            // Messages of a lost picture do not apply to the next. Parameter sets are kept apart.
            builder.discard()
            picture = Picture()
        }
        tracker.noteLoss(count)
    }

    /// Drops the unit that misses its rest, or keeps its beginning if damaged pictures are wanted.
    private mutating func abandonUnit(_ builder: inout AccessUnitBuilder) {
        unit.isFragment = false
        let isSlice = unit.headCount > 0 && Self.isSlice(Self.type(unit.head.0, isHEVC: isHEVC), isHEVC: isHEVC)
        if isSlice, !unit.isWritten {
            builder.open(timestamp: arrival.timestamp, at: arrival.time)
            noteSlice()
        }
        if isSlice, unit.isWritten, builder.settings.damage == .pass { return closeUnit(&builder) }
        if unit.isWritten { builder.truncate(to: unit.start) }
        unit.isOpen = false
    }

    /// Drops a fragment that continues nothing.
    mutating func dropFragment(_ first: UInt8, type: Int, _ builder: inout AccessUnitBuilder) {
        builder.statistics.fragmentsWithoutStart &+= 1
        guard Self.isSlice(type, isHEVC: isHEVC) else { return }
        if isHeld { endPicture(.marker, &builder) }
        if !picture.hasSlice { noteMissingStart(&builder) }
        builder.open(timestamp: arrival.timestamp, at: arrival.time)
        picture.hasSlice = true
        picture.isDamaged = true
        if !isHEVC { noteReference(first, 0) }
    }

    /// The first part of a picture that arrived is not its first: the rest is missing, or was returned too early.
    mutating func noteMissingStart(_ builder: inout AccessUnitBuilder) {
        picture.isDamaged = true
        guard let last, last.timestamp == arrival.timestamp, !tracker.hasLoss else {
            picture.hasLossAtEdge = true
            return
        }
        guard !picture.isLatePart else { return }
        picture.isLatePart = true
        builder.statistics.latePictureParts &+= 1
        policy.noteLatePart(after: last.end)
        if last.isReference != false { tracker.noteReferenceLoss() }
    }
}

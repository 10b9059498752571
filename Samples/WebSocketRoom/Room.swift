#if WebRTC
    /// What one peer says goes to the others; what is said while nobody else is there waits for who comes.
    actor Room {
        private var members: [Int: AsyncStream<String>.Continuation] = [:]
        private var waiting: [String] = []
        private var count = 0
        private static let most = 200

        /// Somebody comes, and is told what was said before.
        func join() -> (member: Int, heard: AsyncStream<String>) {
            let (heard, member) = AsyncStream.makeStream(
                of: String.self, bufferingPolicy: .bufferingNewest(Self.most))
            for text in waiting { member.yield(text) }
            waiting = []
            count += 1
            members[count] = member
            return (count, heard)
        }

        func say(_ text: String, by member: Int) {
            let others = members.filter { $0.key != member }
            if others.isEmpty { waiting = (waiting + [text]).suffix(Self.most) }
            for other in others.values { other.yield(text) }
        }

        func leave(_ member: Int) {
            members.removeValue(forKey: member)?.finish()
            if members.isEmpty { waiting = [] }
        }
    }

    /// Rooms by their names.
    actor Rooms {
        private var rooms: [String: Room] = [:]

        func room(_ name: String) -> Room {
            let room = rooms[name] ?? Room()
            rooms[name] = room
            return room
        }
    }
#endif

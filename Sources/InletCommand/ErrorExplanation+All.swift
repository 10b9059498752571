import Inlet

extension ErrorExplanation {
    /// An explanation for every code of ``InletError``, in the order in which that type declares them.
    static let all = usage + network + streams + rest

    private static let usage = [
        ErrorExplanation(
            .invalidConfiguration, "An option, a size, a rate or a combination of them can never work.",
            causes: [
                "A misspelt option, scheme or value, or an option of another plug-in.",
                "A URI without quotes, which the shell takes apart at ? and &.",
                "Options that exclude each other, such as --size with codec=copy.",
            ],
            remedies: [
                "Read the message: it names the option, what it takes, and often the nearest spelling.",
                "Run inlet plugins NAME for all options of a source or sink.",
                "Put URIs with options in single quotes.",
            ]),
        ErrorExplanation(
            .notFound, "The file, the device, the path on a server or the folder to write to does not exist.",
            causes: [
                "A misspelt path or address.",
                "A camera that is not plugged in, or whose number has changed.",
                "A server that has nothing at the path behind its host.",
                "A sink's folder that nobody has made; with a sink the exit status is 74.",
            ],
            remedies: [
                "Run inlet devices for the cameras that there are, and name one by what it is: v4l2:?name=C920.",
                "Check the path of a stream in the camera's manual or its web page.",
                "Create the folder first.",
            ]),
        ErrorExplanation(
            .permissionDenied, "The operating system refuses access.",
            causes: [
                "A camera whose node belongs to the group video, in which the user is not.",
                "A container to which the device was not passed.",
                "A file or folder of another user, or a read-only file system.",
            ],
            remedies: [
                "Add the user to the group, and log in again: sudo usermod -aG video $USER.",
                "Start the container with --device=/dev/video0 --group-add video.",
                "Check owner and mode with ls -l, or write elsewhere.",
            ]),
        ErrorExplanation(
            .authenticationFailed, "The server refuses the credentials, or wants some.",
            causes: [
                "No user and password in the address or its options, or wrong ones.",
                "A user who may not see this stream.",
                "A camera that has locked the account after wrong passwords.",
            ],
            remedies: [
                "Give user=NAME and password-file=PATH, so that the password is in no process list.",
                "Look at the camera's own page with the same user.",
                "Wait until the camera unlocks the account. Inlet retries a source that has worked.",
            ]),
        ErrorExplanation(
            .declined, "The person who was asked for access declined it, or has withdrawn it.",
            causes: [
                "The user answered no to the desktop's question, or closed it.",
                "Nobody answered it in time, as there is nobody at the screen.",
                "The user has ended the sharing of the screen by the desktop's own button.",
            ],
            remedies: [
                "Start the source again, and agree when the desktop asks.",
                "Give more time, as in screen:?consent=5m.",
                "Keep the answer, so that the user is asked once: screen:?restore=desk.token.",
            ]),
        ErrorExplanation(
            .busy, "Something else holds the device, the port or the name.",
            causes: [
                "Another program that shows the camera, often a browser or a second inlet.",
                "A server that listens at the same port.",
                "Another process that writes to the same shared memory.",
            ],
            remedies: [
                "End the program that the message names; fuser -v /dev/video0 and ss -ltnp name more.",
                "Take another port or name.",
                "Let one inlet feed several sinks: give --to more than once.",
            ]),
        ErrorExplanation(
            .noBandwidth, "The bus or the server cannot carry the mode that was asked for.",
            causes: [
                "Several cameras on one USB bus or hub, each with uncompressed pictures.",
                "A camera at USB 2 that is asked for a large picture at a high rate.",
                "An RTSP server that says it has no bandwidth left.",
            ],
            remedies: [
                "Take format=MJPG, a smaller size or a lower rate.",
                "Plug the camera into another bus: lsusb -t shows which they share.",
                "Take the camera's second, smaller stream, or end other viewers.",
            ]),
        ErrorExplanation(
            .unsupported, "The thing exists, but this build, driver or server cannot do what is asked.",
            causes: [
                "A codec that the installed libav* was built without.",
                "A format, size or control that the driver does not have.",
                "A server that refuses the request or the transport.",
                "A picture that is larger than max-size allows.",
            ],
            remedies: [
                "Run inlet devices --formats or inlet controls for what a camera can do.",
                "Install a fuller build of FFmpeg; ffmpeg -decoders lists what there is.",
                "Try another transport (transport=udp), or another codec in the camera.",
                "Raise the bound: max-size=WIDTHxHEIGHT.",
            ]),
    ]

    private static let network = [
        ErrorExplanation(
            .addressRefused, "A server leads to an address to which it may not lead.",
            causes: [
                "A redirect or a playlist from a public host to a private network or to this machine.",
                "A redirect from TLS to plain text.",
            ],
            remedies: [
                "Give the address at which the stream really is.",
                "Where the server is to be trusted, give private-addresses=allow.",
            ]),
        ErrorExplanation(
            .hostNotFound, "The name service does not know the host, or could not be asked.",
            causes: [
                "A misspelt host.",
                "A network that is down, or has no name service.",
                "A name that only another network knows, such as camera.local.",
            ],
            remedies: ["Ask the system: getent hosts NAME.", "Give the host's address instead of its name."]),
        ErrorExplanation(
            .connectionRefused, "The host is there, but nothing listens at the port.",
            causes: ["A server that does not run, or is just starting.", "A wrong port.", "A firewall that refuses."],
            remedies: [
                "Check that the server runs, and at which port.",
                "Check with another program from the same machine: nc -vz HOST PORT.",
            ]),
        ErrorExplanation(
            .tlsFailed, "The TLS handshake failed, or the certificate is not trusted.",
            causes: [
                "A camera's certificate that it has signed itself.",
                "A certificate that has expired or is for another host; a clock that is wrong.",
                "A server that speaks no TLS at this port.",
            ],
            remedies: [
                "Name the authority that has signed it: tls-ca=PATH.",
                "Look at the certificate: openssl s_client -connect HOST:PORT.",
                "Only where the network is trusted: tls-verify=false.",
            ]),
        ErrorExplanation(
            .serverUnavailable, "The server says that it cannot serve now: status 500 and above.",
            causes: ["An overloaded server.", "A server that starts up, or whose own source is gone."],
            remedies: ["Wait: inlet run tries again by itself.", "Look at the server's log."]),
        ErrorExplanation(
            .sessionLost, "The server has forgotten the session: status 454 of RTSP.",
            causes: ["A server or camera that was restarted.", "A server that got no sign of life in its time limit."],
            remedies: [
                "Nothing, where it happens once: the session is set up anew.",
                "Look at the server's log, and at the network between, where it comes back.",
            ]),
        ErrorExplanation(
            .formatChanged, "The codec or the time base of the stream has changed.",
            causes: [
                "Changed settings of the camera.", "A server that sends another stream over another transport.",
            ],
            remedies: ["Nothing needs to be done: inlet run opens the source anew."]),
        ErrorExplanation(
            .streamEnded, "The server ended a stream that has no end of its own.",
            causes: [
                "A server that was stopped, or whose publisher went away.",
                "A writer that has closed the pipe that is read.",
            ],
            remedies: [
                "Look at the server's log.", "Start the publisher or writer again; inlet run tries again by itself.",
            ]),
        ErrorExplanation(
            .disconnected, "The other side went away.",
            causes: [
                "A cable, a wireless link or a power supply that failed.",
                "A server that broke the connection off; a network that is not there.",
                "A camera that was unplugged, or an input without a signal.",
            ],
            remedies: [
                "Check cable, power and network; the kernel's log (dmesg) names USB devices that reset.",
                "Let it run: a source is opened again, and a camera that is plugged in again is found.",
                "For a sink, --sink-retry forever makes it anew.",
            ]),
        ErrorExplanation(
            .timedOut, "A deadline passed.",
            causes: [
                "A host that does not answer: switched off, or behind a firewall that drops packets.",
                "A stream that has stopped, with its connection still there.",
                "A camera or driver that hangs.",
                "UDP that a firewall keeps out, where transport=udp was asked for.",
            ],
            remedies: [
                "Check that the host answers: ping HOST.",
                "Leave transport=udp out: TCP carries the media then.",
                "Give more time where the source is known to be slow: --timeout 30.",
                "Plug a camera in again.",
            ]),
    ]

    private static let streams = [
        ErrorExplanation(
            .malformedData, "The data is not what its format promises.",
            causes: [
                "A file that is no video, is empty, or has sound alone.",
                "A recording that was cut off before its end.",
                "A server that sends something else, such as a page for logging in.",
            ],
            remedies: ["Look at it with ffprobe.", "Open the address in a browser.", "Make or fetch the file again."]),
        ErrorExplanation(
            .resourceExhausted, "A configured bound, the memory or the disk is used up.",
            causes: [
                "A disk or a quota that is full, or a limit on the size of files.",
                "Too many open files, or too little memory.",
            ],
            remedies: [
                "Free some space, or bound the recording: keep-size=10G.",
                "Raise the bound that the message names, or ulimit -n.",
            ]),
        ErrorExplanation(
            .inputOutput, "Reading or writing failed in a way that no other code names.",
            causes: ["A disk, a card or a USB device that fails.", "A bad cable or hub."],
            remedies: [
                "Look at the kernel's log: dmesg.",
                "Plug the device in again, into another port or with another cable.",
            ]),
    ]

    private static let rest = [
        ErrorExplanation(
            .pluginRejected, "A plug-in broke its contract, or could not be taken in.",
            causes: [
                "A source, sink or decoder of an application's own; those of this package do not fail so.",
                "An installed plug-in whose manifest is wrong, or whose files others may change.",
            ],
            remedies: [
                "Run SourceConformance or SinkConformance of InletTesting on it: they name the broken rule.",
                "inlet plugins lists installed plug-ins that cannot be used, with the reason.",
            ]),
        ErrorExplanation(
            .cancelled, "The operation was cancelled by whoever started it.",
            causes: ["Ctrl-C, or a task of the application that was cancelled."],
            remedies: ["Nothing: it was asked for."]),
        ErrorExplanation(
            .internal, "A mistake in Inlet, or in a library below it.",
            causes: ["A mistake in this program.", "A library that failed without saying why."],
            remedies: [
                "Please report it with the message, the command and inlet run's --trace where it can be repeated.",
                "Try another version of the library that the message names.",
            ]),
    ]
}

import Inlet

extension ErrorExplanation {
    /// An explanation for every code of ``InletError``, in the order in which that type declares them.
    static let all = usage + network + streams + rest

    private static let usage = [
        ErrorExplanation(
            .invalidConfiguration, "An option, a size, a rate or a combination of them can never work.",
            causes: [
                "A misspelt option, scheme or value, or an option of another plug-in.",
                "A URI without quotes, which the shell splits or expands at ? and &.",
                "Options that exclude each other, such as --size with codec=copy.",
            ],
            remedies: [
                "Read the message: it names the option, the values it accepts, and often the nearest spelling.",
                "Run inlet plugins NAME for all options of a source or sink.",
                "Put URIs with options in single quotes.",
            ]),
        ErrorExplanation(
            .notFound, "The file, the device, the path on a server or the folder to write to does not exist.",
            causes: [
                "A misspelt path or address.",
                "A camera that is not plugged in, or whose number has changed.",
                "A server that has no stream or file at this path.",
                "A sink's output folder that does not exist; for a sink, the exit status is 74.",
            ],
            remedies: [
                "Run inlet devices to list the cameras, and select one by its name: v4l2:?name=C920.",
                "Look up the stream's path in the camera's manual or on its web page.",
                "Create the folder first.",
            ]),
        ErrorExplanation(
            .permissionDenied, "The operating system refuses access.",
            causes: [
                "A camera whose device node belongs to the group video, while the user is not a member of that group.",
                "A container that was started without the device.",
                "A file or folder of another user, or a read-only file system.",
            ],
            remedies: [
                "Add the user to the group, and log in again: sudo usermod -aG video $USER.",
                "Start the container with --device=/dev/video0 --group-add video.",
                "Check the owner and the mode with ls -l, or write to another folder.",
            ]),
        ErrorExplanation(
            .authenticationFailed, "The server rejects the credentials, or requires some.",
            causes: [
                "Missing or wrong user or password in the address or its options.",
                "A user without access to this stream.",
                "A camera that has locked the account after wrong passwords.",
            ],
            remedies: [
                "Give user=NAME and password-file=PATH, which keeps the password out of process lists.",
                "Log in to the camera's own web page as the same user.",
                "Wait until the camera unlocks the account. Inlet retries a source that has worked.",
            ]),
        ErrorExplanation(
            .declined, "The user declined access or withdrew it.",
            causes: [
                "The user declined or closed the desktop's dialog.",
                "The dialog timed out because nobody was at the screen.",
                "The user stopped screen sharing with the desktop's own button.",
            ],
            remedies: [
                "Start the source again, and agree when the desktop asks.",
                "Allow more time to answer, as in screen:?consent=5m.",
                "Store the answer, so that the desktop asks only once: screen:?restore=desk.token.",
            ]),
        ErrorExplanation(
            .busy, "The device, the port or the name is in use.",
            causes: [
                "Another program that uses the camera, often a browser or a second inlet.",
                "Another server that listens on the same port.",
                "Another process that writes to the same shared memory.",
            ],
            remedies: [
                "End the program that the message names. fuser -v /dev/video0 and ss -ltnp list the users.",
                "Use another port or name.",
                "Feed several sinks from one inlet: give --to more than once.",
            ]),
        ErrorExplanation(
            .noBandwidth, "The bus or the server cannot carry the requested mode.",
            causes: [
                "Several cameras on one USB bus or hub, each with uncompressed pictures.",
                "A large picture at a high rate from a camera on USB 2.",
                "An RTSP server that reports that it has no bandwidth left.",
            ],
            remedies: [
                "Use format=MJPG, a smaller size or a lower rate.",
                "Plug the camera into another bus: lsusb -t shows the devices of each bus.",
                "Use the camera's second, smaller stream, or close other viewers.",
            ]),
        ErrorExplanation(
            .unsupported, "This build, the driver or the server does not support the request.",
            causes: [
                "A codec that the installed libav* was built without.",
                "A format, size or control that the driver does not have.",
                "A server that refuses the request or the transport.",
                "A picture that is larger than max-size allows.",
            ],
            remedies: [
                "Run inlet devices --formats or inlet controls to list what a camera can do.",
                "Install a more complete build of FFmpeg; ffmpeg -decoders lists its decoders.",
                "Try another transport (transport=udp), or another codec in the camera's settings.",
                "Raise the limit: max-size=WIDTHxHEIGHT.",
            ]),
    ]

    private static let network = [
        ErrorExplanation(
            .addressRefused, "The server points to an address that is not allowed.",
            causes: [
                "A redirect or a playlist from a public host to a private network or to this machine.",
                "A redirect from TLS to plain text.",
            ],
            remedies: [
                "Give the final address of the stream.",
                "If you trust the server, give private-addresses=allow.",
            ]),
        ErrorExplanation(
            .hostNotFound, "The host's name is unknown, or the name service did not answer.",
            causes: [
                "A misspelt host.",
                "A network that is down, or has no name service.",
                "A name that is known only in another network, such as camera.local.",
            ],
            remedies: ["Look the name up: getent hosts NAME.", "Give the host's address instead of its name."]),
        ErrorExplanation(
            .connectionRefused, "The host answers, but nothing listens on the port.",
            causes: [
                "A server that is not running, or is still starting.", "A wrong port.",
                "A firewall that rejects connections.",
            ],
            remedies: [
                "Check that the server is running, and its port.",
                "Check with another program from the same machine: nc -vz HOST PORT.",
            ]),
        ErrorExplanation(
            .tlsFailed, "The TLS handshake failed, or the certificate is not trusted.",
            causes: [
                "A camera with a self-signed certificate.",
                "A certificate that has expired or is for another host, or a wrong clock.",
                "A server without TLS on this port.",
            ],
            remedies: [
                "Name the authority that signed the certificate: tls-ca=PATH.",
                "Inspect the certificate: openssl s_client -connect HOST:PORT.",
                "Disable the check, but only in a trusted network: tls-verify=false.",
            ]),
        ErrorExplanation(
            .serverUnavailable, "The server reports that it cannot serve the request now: status 500 and above.",
            causes: ["An overloaded server.", "A server that is starting, or that has lost its own source."],
            remedies: ["Wait: inlet run retries automatically.", "Check the server's log."]),
        ErrorExplanation(
            .sessionLost, "The server no longer knows the session: RTSP status 454.",
            causes: ["A server or camera that was restarted.", "A server that received no keep-alive in time."],
            remedies: [
                "Do nothing if it happens once: Inlet sets up the session again.",
                "Check the server's log and the network if it happens again.",
            ]),
        ErrorExplanation(
            .formatChanged, "The codec or the time base of the stream has changed.",
            causes: [
                "A change in the camera's settings.", "A server that sends another stream over another transport.",
            ],
            remedies: ["Do nothing: inlet run reopens the source."]),
        ErrorExplanation(
            .streamEnded, "The server or the writer ended a live stream.",
            causes: [
                "A server that was stopped, or whose publisher disconnected.",
                "A writer that has closed the pipe from which Inlet reads.",
            ],
            remedies: [
                "Check the server's log.", "Restart the publisher or writer; inlet run retries automatically.",
            ]),
        ErrorExplanation(
            .disconnected, "The connection to the device or peer was lost.",
            causes: [
                "A cable, a wireless link or a power supply that failed.",
                "A server that closed the connection, or a network that is down.",
                "A camera that was unplugged, or an input without a signal.",
            ],
            remedies: [
                "Check cable, power and network; the kernel's log (dmesg) names USB devices that were reset.",
                "Keep inlet running: it reopens the source, and finds a camera that is plugged in again.",
                "Give --sink-retry forever to reopen a sink.",
            ]),
        ErrorExplanation(
            .timedOut, "A deadline passed.",
            causes: [
                "A host that does not answer: switched off, or behind a firewall that drops packets.",
                "A stream that has stopped although its connection is still open.",
                "A camera or driver that hangs.",
                "A firewall that blocks UDP, with transport=udp.",
            ],
            remedies: [
                "Check that the host answers: ping HOST.",
                "Remove transport=udp, so that the media uses TCP.",
                "Allow a slow source more time: --timeout 30.",
                "Unplug the camera and plug it in again.",
            ]),
    ]

    private static let streams = [
        ErrorExplanation(
            .malformedData, "The data violates its format.",
            causes: [
                "A file that is empty, contains only sound, or is not a video.",
                "A recording that was truncated.",
                "A server that sends something else, such as a login page.",
            ],
            remedies: [
                "Inspect the file with ffprobe.",
                "Open the address in a browser.",
                "Record or download the file again.",
            ]),
        ErrorExplanation(
            .resourceExhausted, "A configured limit is reached, or the memory or the disk is full.",
            causes: [
                "A full disk or quota, or a limit on the size of files.",
                "Too many open files, or too little memory.",
            ],
            remedies: [
                "Free some space, or limit the recording: keep-size=10G.",
                "Raise the limit that the message names, or ulimit -n.",
            ]),
        ErrorExplanation(
            .inputOutput, "Reading or writing failed for a reason without a specific code.",
            causes: ["A failing disk, card or USB device.", "A bad cable or hub."],
            remedies: [
                "Check the kernel's log: dmesg.",
                "Plug the device into another port or use another cable.",
            ]),
    ]

    private static let rest = [
        ErrorExplanation(
            .pluginRejected, "A plug-in broke its contract, or could not be loaded.",
            causes: [
                "A source, sink or decoder that the application provides; those of Inlet do not fail with this code.",
                "An installed plug-in whose manifest is wrong, or whose files other users may change.",
            ],
            remedies: [
                "Run SourceConformance or SinkConformance of InletTesting on it: they name the broken rule.",
                "Run inlet plugins: it lists the installed plug-ins that cannot be used, with the reason.",
            ]),
        ErrorExplanation(
            .cancelled, "The user or the application cancelled the operation.",
            causes: ["Ctrl-C, or a task of the application that was cancelled."],
            remedies: ["Do nothing: the cancellation was requested."]),
        ErrorExplanation(
            .internal, "A bug in Inlet, or in a library that it uses.",
            causes: ["A bug in this program.", "A library that failed without giving a reason."],
            remedies: [
                "Report the message and the command, with a trace by inlet run --trace if it can be reproduced.",
                "Try another version of the library that the message names.",
            ]),
    ]
}

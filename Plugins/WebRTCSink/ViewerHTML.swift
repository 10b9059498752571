#if WebRTC
    /// The page at `/`: a player of WHEP in one text, with nothing loaded from elsewhere.
    enum ViewerHTML {
        static let text = #"""
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
            <title>Inlet</title>
            <style>
            :root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --text: #1c2128; --dim: #667085; --line: #e3e6ea; --good: #12805c; --bad: #b42318; --on: #fff; }
            @media (prefers-color-scheme: dark) { :root { --back: #14171b; --card: #1d2127; --text: #e6e9ee; --dim: #98a2b3; --line: #30363e; --good: #3ccb95; --bad: #f97066;
              --on: #14171b; } }
            * { box-sizing: border-box; }
            body { margin: 0; height: 100vh; height: 100dvh; display: grid; grid-template-rows: auto minmax(0, 1fr) auto; background: var(--back); color: var(--text);
              font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; }
            header, footer { display: flex; gap: 6px 12px; align-items: center; padding: 10px 16px; flex-wrap: wrap; background: var(--card); }
            header { border-bottom: 1px solid var(--line); } footer { border-top: 1px solid var(--line); padding-bottom: max(10px, env(safe-area-inset-bottom)); }
            h1 { font-size: 17px; margin: 0; }
            #state { padding: 3px 11px; border-radius: 99px; font-size: 13px; font-weight: 600; color: var(--on); background: var(--dim); }
            #state.live { background: var(--good); } #state.bad { background: var(--bad); }
            #time { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; color: var(--dim); margin-left: auto; }
            button { font: inherit; font-size: 13px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 6px; background: none; color: var(--text); cursor: pointer; }
            #stage { position: relative; background: #000; min-height: 0; }
            video { position: absolute; width: 100%; height: 100%; object-fit: contain; }
            #words { position: absolute; inset: 0; display: grid; place-content: center; gap: 12px; padding: 24px; text-align: center; color: #fff; background: #000b; }
            #words[hidden] { display: none; } #words.opaque { background: #000; } #trouble { font-size: 17px; margin: 0; max-width: 34em; overflow-wrap: anywhere; }
            #words button { color: #fff; justify-self: center; font-size: 15px; padding: 8px 20px; }
            footer span { font-size: 13px; color: var(--dim); font-variant-numeric: tabular-nums; white-space: nowrap; } footer b { color: var(--text); font-weight: 600; }
            [title] { cursor: help; }
            </style>
            </head>
            <body>
            <header><h1>Inlet</h1><span id="state">connecting</span><span id="time"></span><button id="full">Full screen</button></header>
            <div id="stage"><video id="video" autoplay muted playsinline></video>
              <div id="words" class="opaque"><p id="trouble" role="alert"></p><button id="play" hidden>Play</button></div></div>
            <footer><span id="delay"></span><span id="size"></span><span id="rate"></span><span id="bits"></span><span id="codec"></span><span id="lost"></span></footer>
            <script>
            "use strict";
            const get = id => document.getElementById(id), video = get("video");
            const words = {
              401: "The token is missing or wrong. Open this page with ?token= and the token.",
              409: "The camera is off. The picture comes back by itself when it is on.",
              413: "The offer of this browser is too long.", 422: "This browser takes none of the codecs that are sent here.",
              429: "Too many viewers come at once, or from one address.", 503: "There are as many viewers as there may be.",
            };
            const shown = {
              live: ["live", "live", ""],
              muted: ["no signal", "bad", "No signal. The picture comes back by itself."],
              disabled: ["camera off", "", "The camera is turned off for now."],
            };
            let peer = null, channel = null, place = null, attempt = 0, begun = 0, before = null, timer = 0, what = "live";
            function show(state, kind, trouble, opaque) {
              get("state").textContent = state; get("state").className = kind || ""; get("trouble").textContent = trouble || "";
              get("words").hidden = !trouble && get("play").hidden; get("words").className = opaque ? "opaque" : "";
            }
            function showTrack() {
              if (peer && peer.connectionState === "connected") show(...shown[what], what === "disabled");
            }

            // The session: an offer to WHEP, its answer, and again when it ends.
            async function servers() {
              const links = (await fetch("/whep", { method: "OPTIONS" })).headers.get("link") || "", found = [];
              for (const [, urls, rest] of links.matchAll(/<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)/g)) {
                const value = name => {
                  const found = rest.match(new RegExp(name + '="((?:[^"\\\\]|\\\\.)*)"'));
                  return found ? found[1].replace(/\\(.)/g, "$1") : undefined;
                };
                if (value("rel") === "ice-server") found.push({ urls, username: value("username"), credential: value("credential") });
              }
              return found;
            }
            function gathered(peer) {
              if (peer.iceGatheringState === "complete") return Promise.resolve();
              return new Promise(done => {
                peer.addEventListener("icegatheringstatechange", () => peer.iceGatheringState === "complete" && done());
                setTimeout(done, 500);
              });
            }
            function leave() {
              if (place) fetch(place, { method: "DELETE", keepalive: true }).catch(() => {});
              if (peer) peer.close();
              peer = channel = place = before = null; clock.forget();
            }
            function again(state, trouble, seconds) {
              leave();
              const wait = seconds || Math.min(30, 2 ** attempt++);
              show(state, seconds ? "" : "bad", seconds ? trouble : `${trouble} Trying again in ${wait} s.`, true);
              clearTimeout(timer); timer = setTimeout(begin, wait * 1000);
            }
            async function begin() {
              clearTimeout(timer);
              const number = ++begun;
              if (get("trouble").textContent === "") show(attempt ? "reconnecting" : "connecting", "", "Connecting.", true);
              const iceServers = await servers().catch(() => []);
              // Another has begun meanwhile.
              if (number !== begun) return;
              const iceTransportPolicy = location.hash === "#relay" ? "relay" : "all";
              const mine = peer = new RTCPeerConnection({ bundlePolicy: "max-bundle", iceServers, iceTransportPolicy });
              const transceiver = mine.addTransceiver("video", { direction: "recvonly" });
              if ("jitterBufferTarget" in transceiver.receiver) transceiver.receiver.jitterBufferTarget = 0;
              channel = mine.createDataChannel("page", { protocol: "inlet-page", ordered: false, maxRetransmits: 0 });
              channel.onopen = () => { clock.ask(); clock.ask(); };
              channel.onmessage = event => {
                const message = JSON.parse(event.data);
                if (message.type === "pong") clock.learn(message);
                if (message.state === "off") again("off", words[409], 2);
                else if (shown[message.state]) { what = message.state; showTrack(); }
              };
              what = "live";
              mine.ontrack = event => { video.srcObject = new MediaStream([event.track]); play(); };
              mine.onconnectionstatechange = () => {
                if (mine !== peer) return;
                if (peer.connectionState === "connected") { attempt = 0; showTrack(); }
                if (peer.connectionState === "disconnected") show("reconnecting", "bad", "The network does not let the picture through now.");
                if (peer.connectionState === "failed") again("waiting", "No path to the server was found, or it broke.");
                if (peer.connectionState === "closed") again("waiting", "The server ended the session.");
              };
              try {
                await mine.setLocalDescription();
                await gathered(mine);
                const answer = await fetch("/whep", { method: "POST", headers: { "content-type": "application/sdp" }, body: mine.localDescription.sdp });
                if (mine !== peer) {
                  if (answer.status === 201) fetch(answer.headers.get("location"), { method: "DELETE", keepalive: true }).catch(() => {});
                  return mine.close();
                }
                // The session with this page is over; its address may still hold the token.
                if (answer.status === 401 && !attempt && location.search) await fetch("/" + location.search);
                if (answer.status === 409) return again("off", words[409], Number(answer.headers.get("retry-after")) || 2);
                if (answer.status !== 201) return again("waiting", words[answer.status] || `The server answers ${answer.status}: ${(await answer.text()).trim()}`);
                place = answer.headers.get("location");
                await mine.setRemoteDescription({ type: "answer", sdp: await answer.text() });
              } catch (error) {
                if (mine === peer) again("waiting", error instanceof TypeError ? "The server does not answer." : error.message + ".");
              }
            }

            // Phones that save power play nothing by themselves.
            function play() {
              video.play().then(() => { get("play").hidden = true; showTrack(); }, error => {
                if (error.name !== "NotAllowedError") return;
                get("play").hidden = false; get("words").hidden = false;
              });
            }
            get("play").onclick = play;
            get("full").onclick = () => {
              if (document.fullscreenElement) document.exitFullscreen();
              else if (get("stage").requestFullscreen) get("stage").requestFullscreen();
              else if (video.webkitEnterFullscreen) video.webkitEnterFullscreen();
            };

            // The server's clock, as the RTP timestamp that a picture taken now would have: by the answer with the
            // shortest round trip of the last 20.
            const clock = {
              asked: new Map(), answers: [], number: 0,
              forget() { this.asked.clear(); this.answers = []; },
              ask() {
                if (!channel || channel.readyState !== "open") return;
                this.asked.set(++this.number, performance.now());
                if (this.asked.size > 20) this.asked.delete(this.asked.keys().next().value);
                channel.send(JSON.stringify({ type: "ping", id: this.number }));
              },
              learn(message) {
                const now = performance.now(), sent = this.asked.get(message.id);
                if (sent === undefined) return;
                this.asked.delete(message.id);
                this.answers.push({ trip: now - sent, at: (now + sent) / 2, rtp: message.rtp, wall: message.wall });
                if (this.answers.length > 20) this.answers.shift();
              },
              get best() { return this.answers.reduce((best, each) => best && best.trip <= each.trip ? best : each, null); },
              // Milliseconds between the taking of a picture and a time here.
              age(rtp, time) { const best = this.best; return best && (time - best.at) + ((best.rtp - rtp) | 0) / 90; },
            };
            let ages = [], newest = null;
            function followPictures() {
              video.requestVideoFrameCallback((now, picture) => {
                if (picture.rtpTimestamp !== undefined) {
                  newest = picture;
                  const age = clock.age(picture.rtpTimestamp, picture.expectedDisplayTime);
                  if (age !== null && age > -1000 && age < 60000) ages.push(age);
                }
                followPictures();
              });
            }
            if ("requestVideoFrameCallback" in video) followPictures();
            function fill(id, value, unit, title) {
              const span = get(id), bold = document.createElement("b");
              bold.textContent = value; span.replaceChildren(bold, unit ? " " + unit : ""); if (title) span.title = title;
            }
            function showDelay(media, pair, frames) {
              if (ages.length) {
                ages.sort((a, b) => a - b);
                fill("delay", ages[ages.length >> 1].toFixed(0), "ms behind", "From the taking of a picture to its showing, the median of a second: by its RTP timestamp and the server's clock, " +
                  `which is asked over a data channel. Off by at most ${(clock.best.trip / 2).toFixed(1)} ms, half the round trip.`);
                const taken = new Date(clock.best.wall - ((clock.best.rtp - newest.rtpTimestamp) | 0) / 90);
                get("time").textContent = taken.toLocaleTimeString([], { hour12: false }) + "." + String(taken.getMilliseconds()).padStart(3, "0");
                get("time").title = "When the picture was taken, by the server's clock.";
                ages = [];
                return;
              }
              const held = media.jitterBufferEmittedCount - before.jitterBufferEmittedCount;
              if (!(held > 0)) return fill("delay", "-", "ms");
              const buffer = (media.jitterBufferDelay - before.jitterBufferDelay) / held * 1000;
              const decode = frames > 0 ? (media.totalDecodeTime - before.totalDecodeTime) / frames * 1000 : 0;
              const trip = pair && pair.currentRoundTripTime ? pair.currentRoundTripTime * 500 : 0;
              fill("delay", (trip + buffer + decode).toFixed(0), "ms on the way", "Half the round trip, the time in the jitter buffer and the decoding, by the browser's statistics: this browser does not say " +
                "which picture it shows. Capture and encoding are not in it.");
            }
            async function look() {
              clock.ask();
              if (peer && peer.connectionState === "connected") {
                let media = null, pair = null, codec = null;
                const report = await peer.getStats();
                report.forEach(item => {
                  if (item.type === "inbound-rtp" && item.kind === "video") media = item;
                  if (item.type === "candidate-pair" && item.nominated) pair = item;
                });
                if (media) {
                  codec = media.codecId && report.get(media.codecId);
                  if (media.frameWidth) fill("size", `${media.frameWidth}x${media.frameHeight}`);
                  if (codec) fill("codec", codec.mimeType.replace("video/", ""));
                  fill("lost", media.packetsLost, "packets lost");
                  if (before) {
                    const seconds = (media.timestamp - before.timestamp) / 1000, frames = media.framesDecoded - before.framesDecoded;
                    fill("rate", (frames / seconds).toFixed(1), "fps");
                    fill("bits", ((media.bytesReceived - before.bytesReceived) * 8 / seconds / 1000).toFixed(0), "kbit/s");
                    showDelay(media, pair, frames);
                  }
                  before = media;
                }
              }
              setTimeout(look, 1000);
            }
            addEventListener("pagehide", leave);
            // A phone that was asleep, or a network that is back, need not wait.
            addEventListener("pageshow", event => { if (event.persisted) begin(); });
            addEventListener("online", () => { if (!peer) begin(); });
            addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") { if (!peer) begin(); else if (video.paused) play(); } });
            begin(); look();
            </script>
            </body>
            </html>
            """#
    }
#endif

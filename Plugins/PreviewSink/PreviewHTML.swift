/// The page at `/`: everything in one text, nothing loaded from elsewhere.
enum PreviewHTML {
    static let text = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Inlet preview</title>
        <style>
        :root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --text: #1c2128; --dim: #667085; --line: #e3e6ea; --good: #12805c;
          --bad: #b42318; --on: #fff; --a: #2563eb; --b: #d97706; --c: #7c3aed; --d: #0d9488; }
        @media (prefers-color-scheme: dark) { :root { --back: #14171b; --card: #1d2127; --text: #e6e9ee; --dim: #98a2b3; --line: #30363e;
          --good: #3ccb95; --bad: #f97066; --on: #14171b; --a: #7aa5ff; --b: #fbbf50; --c: #b79bff; --d: #4fd1c5; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; }
        header { display: flex; gap: 12px; align-items: center; padding: 14px 20px; flex-wrap: wrap; }
        h1 { font-size: 17px; margin: 0; } h2 { font-size: 13px; margin: 0 0 10px; color: var(--dim); font-weight: 600; }
        #source { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px; color: var(--dim); overflow-wrap: anywhere; }
        #state { padding: 3px 11px; border-radius: 99px; font-size: 13px; font-weight: 600; color: var(--on); background: var(--dim); }
        #state.live { background: var(--good); } #state.bad { background: var(--bad); }
        main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(300px, 2fr); gap: 16px; padding: 0 20px 20px; align-items: start; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px; }
        .side { display: grid; gap: 16px; }
        #picture { width: 100%; display: block; border-radius: 6px; background: #000; min-height: 120px; }
        .row { display: flex; gap: 8px; margin-top: 10px; }
        a.button, button { font: inherit; font-size: 13px; padding: 5px 12px; border: 1px solid var(--line); border-radius: 6px; background: none;
          color: var(--text); text-decoration: none; cursor: pointer; }
        .figures { display: grid; grid-template-columns: repeat(3, 1fr); gap: 12px; }
        .figures b { display: block; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
        .figures span { font-size: 12px; color: var(--dim); }
        table { width: 100%; border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
        th { text-align: right; font-weight: 600; color: var(--dim); } th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
        td { text-align: right; border-top: 1px solid var(--line); } th, td { padding: 4px 0 4px 10px; } th:first-child, td:first-child { padding-left: 0; }
        @media (max-width: 860px) { main { grid-template-columns: minmax(0, 1fr); padding: 0 12px 12px; } header { padding: 12px; } }
        @media (max-width: 560px) { .sinks tr { display: grid; grid-template-columns: repeat(5, 1fr); border-top: 1px solid var(--line); padding: 3px 0; }
          .sinks thead tr { border: 0; } .sinks th:first-child { display: none; } .sinks td { border: 0; padding: 1px 0; } .sinks td:first-child { grid-column: 1 / -1; }
          .sinks th { font-size: 12px; padding: 0; } }
        #graph { width: 100%; height: 150px; display: block; }
        .key { display: flex; flex-wrap: wrap; gap: 14px; font-size: 12px; color: var(--dim); margin-top: 6px; }
        .key i { display: inline-block; width: 10px; height: 3px; vertical-align: middle; margin-right: 5px; }
        #trouble { color: var(--bad); font-size: 13px; margin: 10px 0 0; }
        </style>
        </head>
        <body>
        <header><h1>Inlet</h1><span id="state">connecting</span><span id="source"></span></header>
        <main>
        <div class="side">
        <section>
          <img id="picture" src="/stream.mjpg" alt="The live picture">
          <div class="row"><button id="toggle">Pause</button><a class="button" href="/snapshot.jpg" download="snapshot.jpg">Snapshot</a>
            <a class="button" id="webrtc" hidden title="The same source by WebRTC, with less delay">Low delay</a></div>
          <p id="trouble" hidden></p>
        </section>
        <section><h2>Sinks</h2><table class="sinks"><thead><tr><th>name</th><th>fps</th><th>delivered</th><th>dropped</th><th>p50 ms</th><th>p99 ms</th></tr></thead>
          <tbody id="sinks"></tbody></table></section>
        </div>
        <div class="side">
        <section><h2>Rates</h2><div class="figures">
          <div><b id="rate">-</b><span>frames a second</span></div>
          <div><b id="captured">-</b><span>captured</span></div>
          <div><b id="dropped">-</b><span>dropped</span></div>
          <div><b id="age">-</b><span>ms since the last</span></div>
          <div><b id="stalls">-</b><span>stalls</span></div>
          <div><b id="openings">-</b><span>openings</span></div>
        </div></section>
        <section><h2>Mean latency of each stage over two minutes, ms</h2>
          <svg id="graph"></svg><div class="key" id="key"></div></section>
        <section><h2>Drops</h2><table><tbody id="drops"></tbody></table></section>
        </div>
        </main>
        <script>
        "use strict";
        const get = id => document.getElementById(id);
        const stages = [["queue", "waiting", "--a"], ["conversion", "conversion", "--b"], ["consume", "in the sink", "--c"], ["capture", "capture", "--d"]];
        const history = []; let last = null, lastTime = 0, failures = 0;
        const number = n => n < 10000 ? String(n) : n < 1e6 ? (n / 1e3).toFixed(1) + "k" : (n / 1e6).toFixed(2) + "M";
        const ms = s => s == null ? "-" : (s * 1000).toFixed(s < 0.01 ? 2 : 0);
        const sum = o => Object.values(o).reduce((a, b) => a + b, 0);
        function row(cells) {
          const tr = document.createElement("tr");
          for (const cell of cells) { const td = document.createElement("td"); td.textContent = cell; tr.append(td); }
          return tr;
        }
        function totals(stats) {
          const result = { capture: [stats.captureLatency.count, stats.captureLatency.total] };
          for (const [name] of stages.slice(0, 3))
            result[name] = stats.sinks.reduce((t, s) => [t[0] + s[name].count, t[1] + s[name].total], [0, 0]);
          return result;
        }
        function draw() {
          const width = get("graph").clientWidth, height = 150, points = 120;
          const most = Math.max(0.4, ...history.flatMap(h => Object.values(h)).filter(v => v != null));
          const power = 10 ** Math.floor(Math.log10(most / 4)), step = [1, 2, 5, 10].find(n => n * power * 4 >= most) * power;
          const top = Math.ceil(most / step) * step * 1.1;
          let shapes = "";
          for (let value = step; value < top; value += step) {
            const y = height - value / top * height;
            shapes += `<line x1="0" x2="${width}" y1="${y}" y2="${y}" stroke="var(--line)"/><text x="2" y="${y - 3}" font-size="10" fill="var(--dim)">${value.toFixed(step < 1 ? 1 : 0)}</text>`;
          }
          for (const [name, , color] of stages) {
            const line = history.map((h, i) => h[name] == null ? null : `${((points - history.length + i) / (points - 1) * width).toFixed(1)},${(height - h[name] / top * height).toFixed(1)}`).filter(p => p);
            if (line.length > 1) shapes += `<polyline points="${line.join(" ")}" fill="none" stroke="var(${color})" stroke-width="2"/>`;
          }
          get("graph").innerHTML = shapes;
        }
        function show(stats, time) {
          const state = get("state");
          state.textContent = stats.stateDescription || "no figures"; state.className = stats.state === "live" ? "live" : "bad";
          get("source").textContent = stats.source; document.title = stats.source ? "Inlet: " + stats.source : "Inlet preview";
          get("rate").textContent = stats.frameRate == null ? "-" : stats.frameRate.toFixed(1);
          get("captured").textContent = number(stats.captured);
          const drops = { ...stats.sourceDrops };
          for (const sink of stats.sinks) for (const [reason, n] of Object.entries(sink.drops)) drops[reason] = (drops[reason] || 0) + n;
          get("dropped").textContent = number(sum(drops));
          get("age").textContent = ms(stats.lastFrameAge); get("stalls").textContent = stats.stalls; get("openings").textContent = stats.openings;
          get("trouble").hidden = !stats.lastFailure; get("trouble").textContent = stats.lastFailure ? "Last failure: " + stats.lastFailure : "";
          get("sinks").replaceChildren(...stats.sinks.map(sink => {
            const before = last && last.sinks.find(s => s.id === sink.id);
            const fps = before ? ((sink.delivered - before.delivered) / (time - lastTime) * 1000).toFixed(1) : "-";
            return row([sink.name + (sink.isAttached ? "" : " (ended)"), fps, number(sink.delivered), number(sum(sink.drops)), ms(sink.delivery.median), ms(sink.delivery.percentile99)]);
          }));
          // A sink's name is its address.
          const web = stats.sinks.map(s => s.isAttached && s.name.match(/^webrtc:.*:([1-9]\d*)$/)).find(found => found);
          get("webrtc").hidden = !web; if (web) get("webrtc").href = `http://${location.hostname}:${web[1]}/${location.search}`;
          const reasons = Object.entries(drops).filter(d => d[1]).sort((a, b) => b[1] - a[1]);
          get("drops").replaceChildren(...(reasons.length ? reasons.map(d => row([d[0], number(d[1])])) : [row(["none", ""])]));
          const now = totals(stats);
          if (last) {
            const before = totals(last), point = {};
            for (const [name] of stages) {
              const count = now[name][0] - before[name][0];
              point[name] = count > 0 ? (now[name][1] - before[name][1]) / count * 1000 : null;
            }
            history.push(point); if (history.length > 120) history.shift();
            draw();
          }
          last = stats; lastTime = time;
        }
        async function look() {
          try {
            const answer = await fetch("/stats.json");
            // The session is over; the page's address may still hold the token.
            if (answer.status === 401 && !failures && location.search) await fetch("/" + location.search);
            if (!answer.ok) throw new Error(answer.status);
            show(await answer.json(), performance.now());
            if (failures) { failures = 0; if (playing) play(true); }
          } catch { failures++; get("state").textContent = "no answer"; get("state").className = "bad"; }
          setTimeout(look, 1000);
        }
        let playing = true;
        function play(on) {
          playing = on; get("toggle").textContent = on ? "Pause" : "Play";
          get("picture").src = on ? "/stream.mjpg?" + Date.now() : "/snapshot.jpg?" + Date.now();
        }
        get("toggle").onclick = () => play(!playing);
        get("key").innerHTML = stages.map(s => `<span><i style="background:var(${s[2]})"></i>${s[1]}</span>`).join("");
        look();
        </script>
        </body>
        </html>
        """#
}

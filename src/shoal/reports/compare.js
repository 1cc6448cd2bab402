"use strict";
// Draws the page of `shoal compare` from the JSON in #data. Texts are set as text, never as HTML.
(() => {
  const { runs, spread, paper } = JSON.parse(document.getElementById("data").textContent);
  const main = document.querySelector("main");
  const made = runs.filter((run) => !run.error);
  const COLOURS = ["#2f6f9f", "#c8553d", "#4d8b57", "#8a5aa8", "#b8860b", "#3aa6a6", "#a83f6f", "#6b7a88", "#7a5c3e", "#5566cc", "#99aa22", "#cc6699"];
  const methods = [...new Set(runs.map((run) => run.method))];
  const colour = (run) => COLOURS[methods.indexOf(run.method) % COLOURS.length];
  const utility = (name) => (run) => run.utility[name];
  const MEASURES = {
    "loss (NCP)": utility("ncp"), "share of leaves (loss)": utility("loss"),
    "squared error (SSE)": utility("sse_loss"), "discernibility (DM)": utility("dm"),
    "average class (AECS)": utility("aecs"),
    "risk, average": (run) => run.risk.average, "risk, highest": (run) => run.risk.maximum,
    "suppressed records": (run) => run.suppressed, "classes": (run) => run.classes,
    "seconds": (run) => run.seconds.total, "search, seconds": (run) => run.seconds.learn,
    "CPU seconds": (run) => run.cpu_seconds, "megabytes": (run) => run.megabytes,
  };
  for (const run of runs) for (const name of Object.keys(run.measured || {})) MEASURES[name] = (each) => (each.measured || {})[name];
  const known = Object.keys(MEASURES).filter((name) => made.some((run) => number(MEASURES[name](run))));
  let chosen = made.find((run) => run.front) || runs[0];

  function number(value) { return typeof value === "number" && Number.isFinite(value); }

  function make(name, words = {}, ...inside) {
    const svg = ["svg", "g", "circle", "line", "path", "text", "polyline", "title"].includes(name);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(words)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...inside);
    return element;
  }

  function shown(value) {
    if (!number(value)) return "–";
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  }

  function ticks(low, high) {
    const step = 10 ** Math.floor(Math.log10((high - low) / 4 || 1));
    const wide = [1, 2, 5, 10].map((each) => each * step).find((each) => (high - low) / each <= 6);
    const found = [];
    for (let at = Math.ceil(low / wide - 1e-9) * wide; at <= high + wide * 1e-6; at += wide) found.push(at);
    return found;
  }

  // An empty plot with axes; `place` turns a pair of values into a pair of pixels.
  function plot(xs, ys, xName, yName) {
    const [W, H, L, B] = [460, 300, 56, 36];
    const ends = (values) => {
      const low = Math.min(0, ...values), high = Math.max(...values, low + 1e-9);
      return [low, high + (high - low) * 0.05];
    };
    const [x0, x1] = ends(xs), [y0, y1] = ends(ys);
    const px = (x) => L + ((x - x0) / (x1 - x0)) * (W - L - 10);
    const py = (y) => H - B - ((y - y0) / (y1 - y0)) * (H - B - 10);
    const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${yName} against ${xName}` });
    for (const x of ticks(x0, x1)) svg.append(
      make("line", { class: "axis", x1: px(x), x2: px(x), y1: 10, y2: H - B }),
      make("text", { x: px(x), y: H - B + 15, "text-anchor": "middle" }, shown(+x.toPrecision(6))));
    for (const y of ticks(y0, y1)) svg.append(
      make("line", { class: "axis", x1: L, x2: W - 10, y1: py(y), y2: py(y) }),
      make("text", { x: L - 6, y: py(y) + 4, "text-anchor": "end" }, shown(+y.toPrecision(6))));
    svg.append(make("text", { x: (W + L) / 2, y: H - 2, "text-anchor": "middle" }, xName));
    return { svg, place: (x, y) => [px(x), py(y)] };
  }

  function dot(run, [x, y], extra = "") {
    const words = { cx: x, cy: y, r: 5, fill: colour(run), tabindex: 0, role: "button", "aria-label": run.name,
      class: `${extra} ${run === chosen ? "chosen" : ""}`, onclick: () => choose(run),
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(run); } } };
    return make("circle", words, make("title", {}, run.name));
  }

  function picker(names, value, change) {
    const list = make("select", { onchange: (event) => change(event.target.value) });
    for (const name of names) list.append(make("option", name === value ? { selected: "", value: name } : { value: name }, name));
    return list;
  }

  const axes = { x: "loss (NCP)", y: "risk, average", over: "loss (NCP)" };

  function scatter() {
    const [x, y] = [MEASURES[axes.x], MEASURES[axes.y]];
    const points = made.filter((run) => number(x(run)) && number(y(run)));
    const { svg, place } = plot(points.map(x), points.map(y), axes.x, axes.y);
    if (axes.x === "loss (NCP)" && axes.y === "risk, average")
      for (const table of new Set(points.map((run) => run.table))) {
        const front = points.filter((run) => run.front && run.table === table).sort((a, b) => x(a) - x(b) || y(b) - y(a));
        svg.append(make("polyline", { class: "front", points: front.map((run) => place(x(run), y(run)).join(",")).join(" ") }));
      }
    for (const run of [...points].sort((a, b) => a.front - b.front)) svg.append(dot(run, place(x(run), y(run)), run.front ? "" : "beaten"));
    const words = make("figcaption", {}, "Each dot is a verified release; greyed ones are beaten by another one in risk and loss together. ",
      picker(known, axes.y, (name) => { axes.y = name; draw(); }), " against ", picker(known, axes.x, (name) => { axes.x = name; draw(); }));
    return make("figure", {}, words, svg);
  }

  // What each run takes; the table has the same figures.
  function costs() {
    const [x, y] = [MEASURES.seconds, MEASURES.megabytes];
    const points = made.filter((run) => number(x(run)) && number(y(run)));
    if (!points.length) return null;
    const { svg, place } = plot(points.map(x), points.map(y), "seconds", "megabytes");
    for (const run of points) svg.append(dot(run, place(x(run), y(run))));
    return make("figure", {}, make("figcaption", {}, "Time and memory: megabytes at most against seconds"), svg);
  }

  // What lines can run over: whatever takes at least two values.
  const OVER = { k: (run) => run.promise.k, records: (run) => run.sample, parts: (run) => run.partitions };
  const overs = Object.keys(OVER).filter((name) => new Set(made.map(OVER[name]).filter(number)).size > 1);
  let over = overs[0];

  // Runs that differ by that (and the seed) alone are one line; seeds give its spread.
  function lines() {
    if (!over) return null;
    const measure = MEASURES[axes.over], at = OVER[over];
    let points = made.filter((run) => number(at(run)) && number(measure(run)));
    const key = (run) => JSON.stringify([run.table, run.method, run.release, run.suppression_limit, run.labels, run.minimizes,
      ...Object.keys(OVER).filter((name) => name !== over).map((name) => OVER[name](run)),
      Object.entries(run.promise).filter(([name]) => name !== "k")]);
    const groups = new Map();
    for (const run of points) groups.set(key(run), [...(groups.get(key(run)) || []), run]);
    for (const [name, group] of groups) if (new Set(group.map(at)).size < 2) groups.delete(name);
    points = [...groups.values()].flat();
    if (!points.length) return null;
    const { svg, place } = plot(points.map(at), points.map(measure), over, axes.over);
    for (const group of groups.values()) {
      const values = new Map();
      for (const run of group) values.set(at(run), [...(values.get(at(run)) || []), measure(run)]);
      const places = [...values.keys()].sort((a, b) => a - b);
      const middle = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
      svg.append(make("polyline", { fill: "none", stroke: colour(group[0]), "stroke-width": 1.5,
        points: places.map((x) => place(x, middle(values.get(x))).join(",")).join(" ") }));
      for (const each of places) {
        const [x, top] = place(each, Math.max(...values.get(each))), [, bottom] = place(each, Math.min(...values.get(each)));
        svg.append(make("line", { x1: x, x2: x, y1: top, y2: bottom, stroke: colour(group[0]) }));
      }
      for (const run of group) svg.append(dot(run, place(at(run), measure(run))));
    }
    const words = make("figcaption", {}, picker(known, axes.over, (name) => { axes.over = name; draw(); }), " over ",
      picker(overs, over, (name) => { over = name; draw(); }));
    return make("figure", {}, words, svg);
  }

  function claims() {
    if (!paper) return null;
    const rows = paper.claims.map((each) => make("tr", {}, make("td", {}, each.figure), make("td", { class: "said" }, each.claim), make("td", { class: "said" }, each.measured)));
    const head = make("tr", {}, ...["figure", "the paper says", "measured here"].map((name) => make("th", {}, name)));
    return make("section", {}, make("h2", {}, `What [${paper.key}] says`), make("p", { class: "lead" }, paper.about),
      make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  }

  function legend() {
    return make("div", { class: "legend" }, ...methods.map((name, i) => make("span", {}, make("i", { style: `background:${COLOURS[i % COLOURS.length]}` }), name)));
  }

  function bars(rows) {
    const most = Math.max(...rows.map(([, value]) => value), 1e-12);
    const box = make("div", { class: "bars" });
    for (const [name, value, text] of rows) box.append(make("span", {}, name), make("b", { style: `width:${(100 * value) / most}%` }), make("span", {}, text ?? shown(value)));
    return box;
  }

  const COLUMNS = [["run", (run) => run.name], ["loss (NCP)", utility("ncp")], ["risk, average", (run) => run.risk.average],
    ["risk, highest", (run) => run.risk.maximum], ["classes", (run) => run.classes], ["suppressed", (run) => run.suppressed],
    ["seconds", (run) => run.seconds.total], ["MB", (run) => run.megabytes]];
  let order = [1, 1];

  function table() {
    const [column, sign] = order;
    const value = COLUMNS[column][1];
    const rank = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (number(x) && number(y)) return sign * (x - y);
      if (number(x) !== number(y)) return number(x) ? -1 : 1;
      return sign * String(x).localeCompare(String(y));
    };
    const head = make("tr", {}, ...COLUMNS.map(([name], i) => make("th", { class: i ? "n" : "", "aria-sort": i === column ? (sign > 0 ? "ascending" : "descending") : "none" },
      make("button", { onclick: () => { order = [i, i === column ? -sign : 1]; draw(); } }, name + (i === column ? (sign > 0 ? " ↑" : " ↓") : "")))));
    const body = make("tbody");
    for (const run of [...runs].sort(rank)) {
      const cells = run.error ? [make("td", { class: "why", colspan: COLUMNS.length - 1 }, run.error)]
        : COLUMNS.slice(1).map(([, each]) => make("td", { class: "n" }, shown(each(run))));
      body.append(make("tr", { class: `${run.front ? "front" : ""} ${run === chosen ? "chosen" : ""}`, onclick: () => choose(run) }, make("td", {}, run.name), ...cells));
    }
    return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), body));
  }

  function details() {
    const run = chosen;
    const box = make("section", { id: "run" }, make("h2", { style: "margin-top:0" }, run.name));
    if (run.error) box.append(make("p", { class: "why" }, run.error));
    else {
      const promises = run.privacy.map((each) => `${each.model} ${JSON.stringify(each.parameters)}: ${each.holds ? "holds" : "BROKEN"}`);
      box.append(make("p", {}, promises.join(" · ")));
      const lost = Object.entries(run.column_loss).sort((a, b) => b[1] - a[1]).map(([name, value]) => [name, value, `${(100 * value).toFixed(1)} %`]);
      const sizes = run.sizes.map((count, i) => [i ? `${2 ** i}–${2 ** (i + 1) - 1}` : "1", count]).filter(([, count], i, all) => count || all.slice(0, i).some(([, c]) => c));
      box.append(make("div", { class: "pair" },
        make("figure", {}, make("figcaption", {}, "Loss by column"), bars(lost)),
        make("figure", {}, make("figcaption", {}, "Classes by their number of records"), bars(sizes))));
    }
    if (run.command) box.append(make("h2", {}, "The command"), make("pre", {}, run.command));
    box.append(make("details", {}, make("summary", {}, "The request that repeats it"), make("pre", {}, run.request)));
    return box;
  }

  function spreads() {
    if (!spread.length) return null;
    const box = make("figure", {}, make("figcaption", {}, "Loss (NCP) over seeds: median, least and most"));
    box.append(bars(spread.filter((each) => number(each.ncp.median)).map((each) => [each.name, each.ncp.median, `${shown(each.ncp.median)} (${shown(each.ncp.least)} to ${shown(each.ncp.most)}, ${each.runs} runs)`])));
    return box;
  }

  function choose(run) { chosen = run; draw(); }

  function draw() {
    const parts = [claims(), legend(), make("div", { class: "charts" }, ...[scatter(), lines(), costs()].filter(Boolean)), details(), make("h2", {}, "All runs"), table(), spreads()];
    main.replaceChildren(...parts.filter(Boolean));
  }
  draw();
})();

// The viewer: what was observed and what a model generated from a launch point, as lanes of events.
(() => {
  const data = DATA.viewer;
  if (!data) return;
  const at = (id) => document.getElementById(id);
  const [visits, launch, models, spacing, span, lanesBox, said] = ["visit", "launch", "model", "spacing", "window", "lanes", "said"].map(at);
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = ["M0,-6L6,5L-6,5Z", "M-5,-5H5V5H-5Z", "M5.5,0A5.5,5.5,0,1,1,-5.5,0A5.5,5.5,0,1,1,5.5,0Z", "M0,-7L6,0L0,7L-6,0Z", "M0,6L6,-5L-6,-5Z", "M-2,-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z", "M6,0L-5,6L-5,-6Z", "M-6,0L5,6L5,-6Z"];
  const END = "M-1.6,-8H1.6V8H-1.6Z";
  const LANE = 46, LEFT = 126, TOP = 34, RIGHT = 40;
  const CLOSE = 8, STEP = 11, LEVELS = 3, COLUMNS = 2, WIDE = 26;
  let width = 1120;
  let lanes = [], cursor = {lane: 0, event: 0};

  const make = (tag, attributes, text) => {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const colour = (token) => token === 0 ? "var(--ink)" : `var(--series-${data.kind_of[token] % 9 + 1})`;
  const shape = (token) => token === 0 ? END : SHAPES[data.kind_of[token] % SHAPES.length];
  const visit = () => data.visits[visits.value];
  const length = () => visit().launches[launch.value];
  const clock = (minutes) => {
    const sign = minutes < 0 ? "−" : "", whole = Math.round(Math.abs(minutes));
    return sign + (whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${String(whole % 60).padStart(2, "0")}`);
  };

  // Events with the time and the step since the launch; the last seen event is at 0.
  const after = (tokens, minutes) => {
    let time = 0;
    return tokens.map((token, i) => ({token, time: time += minutes[i], step: i + 1, gap: minutes[i]}));
  };
  const before = (tokens, minutes) => {
    const events = [];
    let time = 0;
    for (let i = tokens.length - 1; i >= 0; i--) {
      events.unshift({token: tokens[i], time: -time, step: i + 1 - tokens.length, gap: minutes[i]});
      time += minutes[i];
    }
    return events;
  };

  const collect = () => {
    const {tokens, minutes} = visit(), n = length(), model = data.models[models.value];
    const draws = model.draws[visit().id]?.[n] ?? [];
    const seen = {name: "seen", seen: true, events: before(tokens.slice(0, n), minutes.slice(0, n))};
    const truth = {name: "what happened", events: after(tokens.slice(n), minutes.slice(n))};
    return [seen, truth, ...draws.map(([drawn, gaps], i) => ({name: `generated ${i + 1}`, events: after(drawn, gaps), capped: drawn.at(-1) !== 0}))];
  };

  const place = (event) => spacing.value === "step" ? event.step : event.time;
  const scale = () => {
    const all = lanes.flatMap((lane) => lane.events.map(place));
    const limit = spacing.value === "time" && Number(span.value) || Infinity;
    const low = Math.max(Math.min(0, ...all), -limit), high = Math.min(Math.max(1, ...all), limit);
    const x = (value) => LEFT + (value - low) / (high - low) * (width - LEFT - RIGHT);
    return {x, low, high};
  };
  const ticks = (low, high) => {
    if (spacing.value === "step") { const by = [1, 2, 5, 10, 20, 50].find((n) => (high - low) / n <= width / 80) ?? 100; return range(low, high, by).map((v) => [v, String(v)]); }
    const by = [15, 30, 60, 120, 240, 480, 1440, 2880, 10080].find((n) => (high - low) / n <= width / 110) ?? 43200;
    return range(low, high, by).map((v) => [v, high - low <= 120 ? `${v} min` : `${v / 60} h`.replace("-", "−")]);
  };
  const range = (low, high, by) => { const found = []; for (let v = Math.ceil(low / by) * by; v <= high; v += by) found.push(v); return found; };

  // Marks that would lie on each other are a pile: it grows upwards, then by a column away from the
  // launch, and one that has no room is two marks and how many there are. Seen events are piled up
  // from the launch backwards, so that none of them is drawn after it.
  const piled = (events, x, low, high, backwards) => {
    const shown = events.map((event, index) => ({event, index, at: x(place(event))})).filter(({event}) => place(event) >= low && place(event) <= high);
    if (backwards) shown.reverse();
    const piles = [];
    for (let i = 0; i < shown.length;) {
      const from = shown[i].at;
      const within = (width) => { let end = i; while (end < shown.length && Math.abs(shown[end].at - from) < width) end += 1; return end; };
      let end = within(CLOSE);
      const columns = Math.ceil((end - i) / LEVELS), room = end < shown.length ? Math.abs(shown[end].at - from) : Infinity;
      const fits = columns === 1 || (columns <= COLUMNS && columns * STEP <= room);
      if (!fits) end = within(WIDE);
      piles.push({from, fits, ones: shown.slice(i, end)});
      i = end;
    }
    return piles;
  };

  const drawPile = (group, marks, {from, fits, ones}, y, backwards) => {
    const away = backwards ? -1 : 1;
    ones.forEach((one, k) => {
      const level = fits ? k % LEVELS : Math.min(k, LEVELS - 1), column = fits ? Math.floor(k / LEVELS) : 0;
      const left = from + away * column * STEP, top = y - level * 12;
      marks[one.index] = [left, top];
      if (fits || level < LEVELS - 1) group.append(make("path", {d: shape(one.event.token), transform: `translate(${left.toFixed(1)},${top})`, fill: colour(one.event.token)}));
    });
    if (!fits) group.append(make("text", {x: from - away * 6, y: y - (LEVELS - 1) * 12 + 4, "text-anchor": backwards ? "end" : "start", class: "count"}, `×${ones.length}`));
  };

  // At the edge of the window: that a lane goes on, and with how many events.
  const drawStub = (svg, n, edge, y, away) => {
    if (!n) return;
    const tip = edge + away * 12;
    svg.append(make("polyline", {points: `${tip - away * 5},${y - 5} ${tip},${y} ${tip - away * 5},${y + 5}`, class: "stub"}));
    svg.append(make("text", {x: tip, y: y - 10, "text-anchor": away > 0 ? "middle" : "end", class: "count"}, `+${n}`));
  };

  const drawLane = (svg, lane, row, x, low, high) => {
    const y = TOP + row * LANE + LANE - 12, backwards = Boolean(lane.seen);
    svg.append(make("text", {x: 8, y: y + 1, class: "lane-name"}, lane.name));
    svg.append(make("line", {x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "guide"}));
    const group = make("g", lane.seen ? {class: "seen"} : {});
    lane.marks = {};
    for (const pile of piled(lane.events, x, low, high, backwards)) drawPile(group, lane.marks, pile, y, backwards);
    svg.append(group);
    const later = lane.events.filter((event) => place(event) > high).length;
    drawStub(svg, later, width - RIGHT, y, 1);
    drawStub(svg, lane.events.filter((event) => place(event) < low).length, LEFT, y, -1);
    if (lane.capped && !later) svg.append(make("text", {x: width - 6, y: y - 8, "text-anchor": "end"}, "cut at the cap →"));
  };

  const drawTicks = (svg, x, low, high, height) => {
    for (const [value, text] of ticks(low, high)) {
      svg.append(make("line", {x1: x(value), x2: x(value), y1: TOP - 8, y2: height - 8, class: "guide"}));
      const last = x(value) > width - RIGHT - 4;
      if (Math.abs(x(value) - x(0)) > 44) svg.append(make("text", {x: x(value) + (last ? 16 : 0), y: TOP - 14, "text-anchor": last ? "end" : "middle", class: "tick"}, text));
    }
  };

  const draw = () => {
    width = Math.max(lanesBox.clientWidth, 480);
    const {x, low, high} = scale(), height = TOP + lanes.length * LANE + 14;
    const svg = make("svg", {width, height, role: "img", "aria-label": `Lanes of events after launch point ${length()} of visit ${Number(visits.value) + 1}`});
    drawTicks(svg, x, low, high, height);
    svg.append(make("line", {x1: x(0), x2: x(0), y1: TOP - 10, y2: height - 8, class: "now"}));
    svg.append(make("text", {x: x(0), y: TOP - 14, "text-anchor": "middle", class: "now-label"}, "launch"));
    lanes.forEach((lane, row) => drawLane(svg, lane, row, x, low, high));
    svg.prepend(make("rect", {x: 0, y: TOP - 2, width: width, height: 2 * LANE + 2, rx: 6, class: "band"}));
    svg.append(make("circle", {class: "cursor", r: 10, cx: -99, cy: -99}));
    lanesBox.replaceChildren(svg);
    point(false);
  };

  const point = (speak) => {
    const lane = lanes[cursor.lane], event = lane?.events[cursor.event], ring = lanesBox.querySelector(".cursor");
    if (!event) { said.textContent = ""; return; }
    const [cx, cy] = lane.marks[cursor.event] ?? [-99, -99];
    const inFocus = document.activeElement === lanesBox;
    ring.setAttribute("cx", inFocus ? cx : -99);
    ring.setAttribute("cy", cy);
    if (!speak) return;
    const when = event.time < 0 ? `${clock(-event.time)} before the launch` : `${clock(event.time)} after the launch`;
    const where = cx < 0 ? " Outside the window." : "";
    said.replaceChildren(say("strong", data.tokens[event.token]), `, ${when}, ${clock(event.gap)} after the event before. ${lane.name}, ${cursor.event + 1} of ${lane.events.length}.${where}`);
  };

  const summary = () => {
    const [, truth, ...drawn] = lanes;
    const ends = drawn.filter((lane) => !lane.capped).map((lane) => lane.events.at(-1).time);
    const mean = ends.length ? `; generated: ${clock(ends.reduce((a, b) => a + b, 0) / ends.length)} on average of ${ends.length} that end` : "";
    said.textContent = drawn.length
      ? `The visit went on for ${clock(truth.events.at(-1).time)} and ${truth.events.length} events${mean}.`
      : "This model was not started here.";
  };

  const asText = () => {
    const box = at("as-text").querySelector(".scroll");
    if (!at("as-text").open) { box.replaceChildren(); return; }
    box.replaceChildren(...lanes.flatMap((lane) => {
      const list = say("ol", "");
      for (const event of lane.events) list.append(say("li", `${data.tokens[event.token]}, ${clock(event.time)}`));
      return [say("h4", lane.name), list];
    }));
  };

  const show = () => {
    at("launch-label").textContent = `Launch point: after ${length()} of ${visit().tokens.length - 1} events`;
    launch.setAttribute("aria-valuetext", `after ${length()} events`);
    lanes = collect();
    cursor = {lane: Math.min(1, lanes.length - 1), event: 0};
    draw();
    summary();
    asText();
  };
  const chooseVisit = () => { launch.max = visit().launches.length - 1; launch.value = Math.floor(visit().launches.length / 3); show(); };
  const nextLaunch = (by) => {
    const next = Number(launch.value) + by, other = Number(visits.value) + by;
    if (next >= 0 && next <= Number(launch.max)) { launch.value = next; show(); }
    else if (data.visits[other]) { visits.value = other; chooseVisit(); launch.value = by > 0 ? 0 : launch.max; show(); }
  };

  const keys = {
    ArrowRight: () => { cursor.event = Math.min(cursor.event + 1, lanes[cursor.lane].events.length - 1); },
    ArrowLeft: () => { cursor.event = Math.max(cursor.event - 1, 0); },
    ArrowDown: () => { cursor.lane = Math.min(cursor.lane + 1, lanes.length - 1); cursor.event = Math.min(cursor.event, lanes[cursor.lane].events.length - 1); },
    ArrowUp: () => { cursor.lane = Math.max(cursor.lane - 1, 0); cursor.event = Math.min(cursor.event, lanes[cursor.lane].events.length - 1); },
    Home: () => { cursor.event = 0; },
    End: () => { cursor.event = lanes[cursor.lane].events.length - 1; },
  };
  lanesBox.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "-") { nextLaunch(event.key === "+" ? 1 : -1); event.preventDefault(); return; }
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
    point(true);
  });
  lanesBox.addEventListener("focus", () => point(true));
  lanesBox.addEventListener("blur", () => point(false));
  lanesBox.addEventListener("click", (event) => {
    const box = lanesBox.querySelector("svg").getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let nearest = Infinity;
    lanes.forEach((lane, row) => Object.entries(lane.marks).forEach(([index, [cx, cy]]) => {
      const away = (cx - x) ** 2 + (cy - y) ** 2;
      if (away < nearest) { nearest = away; cursor = {lane: row, event: Number(index)}; }
    }));
    point(true);
  });

  data.visits.forEach((one, i) => visits.append(new Option(`${i + 1} · ${one.id} · ${one.tokens.length - 1} events`, i)));
  data.models.forEach((one, i) => models.append(new Option(one.label, i)));
  const kind = (name, d, fill) => {
    const signs = [...name], item = say("span", signs.length > 40 ? signs.slice(0, 39).join("") + "…" : name, {title: name}), icon = make("svg", {viewBox: "-8 -8 16 16", class: "icon"});
    icon.append(make("path", {d, fill}));
    item.prepend(icon);
    at("kinds").append(item);
  };
  data.kinds.forEach((name, i) => kind(name, SHAPES[i % SHAPES.length], `var(--series-${i % 9 + 1})`));
  kind(data.tokens[0], END, "var(--ink)");
  addEventListener("resize", draw);
  visits.addEventListener("change", chooseVisit);
  for (const control of [launch, models]) control.addEventListener("input", show);
  for (const control of [spacing, span]) control.addEventListener("change", draw);
  at("as-text").addEventListener("toggle", asText);
  chooseVisit();
})();

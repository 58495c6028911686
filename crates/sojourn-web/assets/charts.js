// Charts over time: one zoom and one pointer for all of them; legends are buttons with the latest values.
"use strict";
const charts = (() => {
  const KINDS = [
    { chart: "rate", title: "Arrivals: asked and delivered", unit: "per_second", ofRun: true },
    { chart: "lag", title: "Generator's lag (p99)", unit: "ns", ofRun: true },
    { chart: "completed", title: "Started and completed", unit: "per_second" },
    { chart: "in_flight", title: "In flight", unit: "count" },
    { chart: "duration", title: "Journey, start to end", unit: "ns" },
    { chart: "waiting", title: "Waiting for each stage", unit: "count" },
    { chart: "hop_p50", title: "Hops, median", unit: "ns" },
    { chart: "hop_p99", title: "Hops, p99", unit: "ns" },
    { chart: "step_p99", title: "Requests, response time p99", unit: "ns" },
  ];
  const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3], [], [14, 4], [4, 4], [1, 5]];
  const part = (id) => document.getElementById(id);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const isKey = (kind, journey) => (line) => line.chart === kind.chart && line.journey === (kind.ofRun ? "" : journey);

  const POINTS_MAX = 500;
  // Seconds that are held here one by one; beyond them the server's joined ones are taken again.
  const SECONDS_MAX = 14_400;
  // All lines since the start, as the server has them; `at` is their common time in seconds.
  let at = [], lines = [], view = null, drawn = [], journey = "";
  const off = new Set();

  // The first point at or after a time.
  const lower = (from) => {
    let low = 0, high = at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[middle] < from) low = middle + 1; else high = middle;
    }
    return low;
  };
  // What is in view, neighbours joined until few enough are left: of rates the mean, of others the highest, so that peaks stay.
  const joined = (values, from, to, group, isRate) => {
    const points = [];
    for (let start = from; start < to; start += group) {
      let sum = 0, count = 0, most = null;
      for (let i = start; i < Math.min(to, start + group); i += 1) {
        const value = values[i];
        if (value === null || value === undefined) continue;
        sum += value;
        count += 1;
        if (most === null || value > most) most = value;
      }
      points.push(isRate && count > 0 ? sum / count : most);
    }
    return points;
  };
  const inView = (each) => {
    const [first, last] = view ? [Math.max(0, lower(view[0]) - 1), Math.min(at.length, lower(view[1]) + 1)] : [0, at.length];
    const group = Math.max(1, Math.ceil((last - first) / POINTS_MAX));
    const times = [];
    for (let i = first; i < last; i += group) times.push(at[i]);
    const isRate = each.kind.unit === "per_second";
    return [times, ...each.own.map((line) => joined(line.values, first, last, group, isRate))];
  };
  // A chart that nobody sees is drawn when it comes into sight.
  const refresh = (each) => {
    each.isStale = !each.isSeen;
    if (each.isSeen) each.plot.setData(inView(each), true);
  };
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const each = drawn.find(({ figure }) => figure === target);
      if (!each) continue;
      each.isSeen = isIntersecting;
      if (each.isSeen && each.isStale) refresh(each);
    }
  }, { rootMargin: "100px" });

  // As wide as its place, which is known once all charts are there, and changes with the window. A tip goes along with its point,
  // whose new place is known once the chart has taken its size.
  const fit = ({ figure, plot }) => {
    const width = Math.max(240, figure.clientWidth);
    if (figure.clientWidth === 0 || plot.width === width) return;
    const { idx, left } = plot.cursor;
    const pointed = left >= 0 && Number.isInteger(idx) ? plot.data[0][idx] : undefined;
    plot.setSize({ width, height: 220 });
    queueMicrotask(() => plot.setCursor(pointed === undefined ? { left: -10, top: -10 } : { left: plot.valToPos(pointed, "x"), top: 10 }));
  };
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) drawn.filter(({ figure }) => figure === target).forEach(fit);
  });

  const range = () => (view ? { min: view[0], max: view[1] } : { min: at[0] ?? 0, max: Math.max(at[at.length - 1] ?? 1, (at[0] ?? 0) + 1) });
  const zoom = (from, to) => {
    view = from === null ? null : [from, to];
    part("reset").disabled = view === null;
    drawn.forEach(refresh);
  };
  const name = (line) => `${line.chart}/${line.journey}/${line.line}`;

  const build = (kind, own) => {
    const figure = document.createElement("figure");
    figure.className = "chart live-chart";
    figure.dataset.chart = kind.chart;
    const caption = document.createElement("figcaption"), legend = document.createElement("ul");
    const box = document.createElement("div"), tip = document.createElement("div");
    caption.textContent = kind.title;
    legend.className = "legend";
    box.className = "box";
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${kind.title}, over time; arrow keys show values, Escape shows all; the latest values are in the legend`);
    tip.className = "tip";
    tip.hidden = true;
    figure.append(caption, legend, box);
    part("charts").append(figure);

    const print = words.print[kind.unit];
    const soft = colour("--soft"), grid = { stroke: colour("--line"), width: 1 };
    const end = () => at[at.length - 1] ?? 1;
    // Dashes tell a few lines apart for those who see no colours; of many they tell nothing, and are slow to draw.
    const dash = (i) => (own.length <= DASHES.length ? DASHES[i] : []);
    const series = own.map((line, i) => ({ label: line.line, stroke: colour(`--c${i % 8}`), dash: dash(i), width: own.length > 8 ? 1 : 1.8, show: !off.has(name(line)), points: { show: false } }));
    // The time that keys have chosen, until a pointer moves over the chart or something else is chosen.
    let keyed;
    const pointAt = (time) => plot.setCursor({ left: plot.valToPos(time, "x"), top: 10 });
    const plot = new uPlot({
      width: Math.max(240, figure.clientWidth), height: 220,
      legend: { show: false }, focus: { alpha: 1 },
      cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "sojourn" } },
      scales: { x: { time: false, range: () => { const r = range(); return [r.min, r.max]; } }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
      axes: [
        { stroke: soft, grid, ticks: grid, values: (_, marks) => marks.map((s) => words.clock(s, end())) },
        { stroke: soft, grid, ticks: grid, size: 70, values: (_, marks) => marks.map((v) => print(v)) },
      ],
      series: [{}, ...series],
      hooks: {
        setSelect: [(u) => {
          const { left, width } = u.select;
          if (width > 5) zoom(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
        setCursor: [(u) => {
          const { idx, left } = u.cursor;
          const isThere = Number.isInteger(idx) && left >= 0 && (box.matches(":hover") || box === document.activeElement);
          // A pointer that goes away leaves the point that keys have chosen, as long as it can be seen.
          if (!isThere && keyed !== undefined) {
            const time = keyed;
            keyed = undefined;
            queueMicrotask(() => {
              pointAt(time);
              keyed = tip.hidden ? undefined : time;
            });
          }
          tip.hidden = !isThere;
          if (!isThere) return;
          const rows = own.filter((line) => !off.has(name(line))).slice(0, 14).map((line) => {
            const value = u.data[own.indexOf(line) + 1][idx];
            const row = document.createElement("div");
            row.textContent = `${line.line}: ${value === null || value === undefined ? "–" : print(value)}`;
            return row;
          });
          const head = document.createElement("b");
          head.textContent = words.clock(u.data[0][idx], end());
          tip.replaceChildren(head, ...rows);
          const most = u.over.clientWidth - tip.offsetWidth;
          tip.style.left = `${Math.max(0, left + 12 <= most ? left + 12 : Math.min(most, left - 12 - tip.offsetWidth))}px`;
        }],
      },
    }, [[], ...own.map(() => [])], box);
    plot.over.addEventListener("mousemove", () => { keyed = undefined; });
    plot.over.append(tip);
    plot.over.addEventListener("dblclick", () => zoom(null));
    box.addEventListener("blur", () => { keyed = undefined; tip.hidden = true; });
    box.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
      if (event.key === "Escape") { keyed = undefined; zoom(null); return; }
      if (!(event.key in steps)) return;
      event.preventDefault();
      const times = plot.data[0], last = times.length - 1;
      const index = Math.min(last, Math.max(0, (plot.cursor.idx ?? last) + steps[event.key]));
      keyed = times[index];
      pointAt(keyed);
    });
    const values = own.map((line, i) => {
      const item = document.createElement("li"), button = document.createElement("button"), mark = document.createElement("span"), value = document.createElement("span");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!off.has(name(line))));
      mark.className = "swatch";
      mark.style.background = series[i].stroke;
      value.className = "value";
      button.append(mark, ` ${line.line} `, value);
      button.addEventListener("click", () => {
        const isOn = off.delete(name(line));
        if (!isOn) off.add(name(line));
        button.setAttribute("aria-pressed", String(isOn));
        plot.setSeries(i + 1, { show: isOn });
      });
      item.append(button);
      legend.append(item);
      return value;
    });
    sight.observe(figure);
    sizes.observe(figure);
    return { kind, own, plot, figure, values, print, isSeen: false, isStale: true };
  };

  const latest = (each) => each.own.forEach((line, i) => {
    const value = line.values[line.values.length - 1];
    each.values[i].textContent = value === null || value === undefined ? "–" : each.print(value);
  });
  const draw = () => {
    for (const each of drawn) { sight.unobserve(each.figure); sizes.unobserve(each.figure); each.plot.destroy(); each.figure.remove(); }
    drawn = KINDS.map((kind) => [kind, lines.filter(isKey(kind, journey))]).filter(([, own]) => own.length > 0).map(([kind, own]) => build(kind, own));
    drawn.forEach(latest);
  };
  const redraw = () => {
    for (const each of drawn) {
      refresh(each);
      latest(each);
    }
  };

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  let isHeld = false;
  return {
    zoom,
    // Whether lines stay as they are drawn; they go on behind it.
    hold(held) { isHeld = held; if (!held) redraw(); },
    // Everything so far.
    begin(history) { at = history.at_s; lines = history.lines; draw(); },
    // Whose charts are shown.
    choose(name) { if (name !== journey) { journey = name; draw(); } },
    // A second more; false when everything has to be taken from the server again.
    add(atS, values) {
      if (values.length > lines.length || at.length >= SECONDS_MAX) return false;
      if (at.length > 0 && atS <= at[at.length - 1]) return true;
      at.push(atS);
      lines.forEach((line, i) => line.values.push(values[i] ?? null));
      if (!isHeld) redraw();
      return true;
    },
  };
})();

// The journey as a graph: stages with their rates, hops with their latencies and what waits on them.
"use strict";
const graph = (() => {
  const WIDTH = 156, HEIGHT = 74, GAP_X = 104, GAP_Y = 26, PAD = 8;
  const make = (name, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const short = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
  const ns = (value, isLost) => (isLost ? "lost" : value === null ? "–" : words.print.ns(value));

  // Each stage's column: one more than what it follows. A stage that follows itself in the end stands first.
  const columns = (stages) => {
    const known = new Map(stages.map((stage) => [stage.name, stage]));
    return stages.map((stage) => {
      let column = 1;
      for (let at = stage; at.after && known.has(at.after) && column <= stages.length; at = known.get(at.after)) column += 1;
      return column;
    });
  };

  const draw = (journey) => {
    const { stages } = journey;
    const column = columns(stages), rows = new Map();
    const place = (at) => {
      const row = rows.get(at) ?? 0;
      rows.set(at, row + 1);
      return { x: PAD + at * (WIDTH + GAP_X), y: PAD + row * (HEIGHT + GAP_Y) };
    };
    const root = place(0);
    const places = new Map(stages.map((stage, i) => [stage.name, place(column[i])]));
    const wide = Math.max(...column, 0) + 1, high = Math.max(...rows.values());
    const width = wide * WIDTH + (wide - 1) * GAP_X + 2 * PAD, height = high * (HEIGHT + GAP_Y) - GAP_Y + 2 * PAD;
    const most = Math.max(1e-9, journey.started_per_s, ...stages.map((stage) => stage.reached_per_s));
    const edges = [], nodes = [];
    const text = (x, y, words, name) => make("text", { x, y, class: name }, words);
    const node = ({ x, y }, title, lines, mark) => {
      const head = text(x + 10, y + 21, short(title, 19), "title");
      head.append(make("title", {}, title));
      nodes.push(make("g", { class: `node ${mark}` }, make("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 8 }), head,
        ...lines.map((line, i) => text(x + 10, y + 41 + 18 * i, line, "line"))));
    };
    node(root, "start", [`${words.print.per_second(journey.started_per_s)} started`, `${words.print.count(journey.in_flight)} in flight`], "");
    for (const stage of stages) {
      const to = places.get(stage.name), from = places.get(stage.after) ?? root;
      const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
      const middle = (x1 + x2) / 2, isStuck = stage.is_required && stage.waiting > 0 && stage.reached_per_s === 0;
      const { hop } = stage;
      edges.push(make("g", { class: isStuck ? "edge stuck" : "edge" },
        make("path", { d: `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`, "stroke-width": (1.5 + 5 * stage.reached_per_s / most).toFixed(1) }),
        text(x2 - 6, y2 - 8, `p50 ${ns(hop.p50_ns, hop.p50_is_lost)}`, "hop"),
        text(x2 - 6, y2 + 17, `p99 ${ns(hop.p99_ns, hop.p99_is_lost)}`, "hop")));
      node(to, stage.name, [`${words.print.per_second(stage.reached_per_s)} · ${words.print.count(stage.reached)}`, stage.is_required ? `${words.print.count(stage.waiting)} waiting` : "need not come"], isStuck ? "stuck" : "");
    }
  const said = stages.map((stage) => `${stage.name}: ${words.print.per_second(stage.reached_per_s)}, ${stage.is_required ? `${stage.waiting} waiting` : "need not come"}, median hop ${ns(stage.hop.p50_ns, stage.hop.p50_is_lost)}`).join("; ");
    return make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Flow of ${journey.name}. ${said}` }, ...edges, ...nodes);
  };
  return { draw };
})();

// Draws the series on a canvas: zoom, values under the pointer, scales, colours, and a picture to keep.
"use strict";
(() => {
  const part = (id) => document.getElementById(id);
  const root = document.documentElement;
  const [chart, canvas, hair, brush, tip] = ["chart", "canvas", "hair", "brush", "tip"].map(part);
  const STYLES = 6, LEFT = 62, RIGHT = 12, TOP = 10, BOTTOM = 40;

  // Times are sent as differences in milliseconds; here they are seconds.
  const series = JSON.parse(part("data").textContent).map((line) => {
    let ms = 0;
    return { ...line, x: line.x.map((difference) => (ms += difference) / 1000), shown: true };
  });
  if (series.length === 0) return;
  const end = series.reduce((most, { x }) => Math.max(most, x[x.length - 1]), 0.001);
  let view = [0, end], isLog = true, cursor = null, from = null;
  document.querySelectorAll(".scripted").forEach((each) => { each.hidden = false; });

  // Figures in words.
  const digits = (value) => (value >= 999.5 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  const latency = (ms) => {
    if (ms === 0) return "0";
    if (ms < 0.0009995) return `${digits(ms * 1e6)} ns`;
    if (ms < 0.9995) return `${digits(ms * 1e3)} µs`;
    return ms < 999.5 ? `${digits(ms)} ms` : `${digits(ms / 1e3)} s`;
  };
  const time = (s, step) => `${s.toFixed(step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step))))} s`;

  // The first point at or after a time.
  const lower = (x, at) => {
    let low = 0, high = x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (x[middle] < at) low = middle + 1; else high = middle;
    }
    return low;
  };
  // Points to draw: those in view, and one on either side so that lines go on to the edge.
  const inView = (line) => [Math.max(0, lower(line.x, view[0]) - 1), Math.min(line.x.length, lower(line.x, view[1] + 1e-9) + 1)];

  const heights = () => {
    let low = Infinity, high = 0;
    for (const line of series) {
      if (!line.shown) continue;
      const [first, last] = inView(line);
      for (let i = first; i < last; i += 1) {
        const y = line.y[i];
        if (y > high) high = y;
        if (y < low && y > 0) low = y;
      }
    }
    if (high <= 0) [low, high] = [0.1, 1];
    if (!isLog) return [0, high * 1.05];
    low = Math.min(low, high);
    return low === high ? [low / 2, high * 2] : [low / 1.15, high * 1.15];
  };
  const steps = (low, high, count) => {
    const least = (high - low) / count, power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * 0.999);
  };
  const range = (low, high, step) => {
    const marks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12); k += 1) marks.push(k * step);
    return marks;
  };
  const heightMarks = (low, high, height) => {
    if (!isLog) return range(low, high, steps(low, high, Math.max(2, height / 55)));
    const marks = [], decades = Math.log10(high / low);
    const factors = decades < 1.2 ? [1, 1.5, 2, 3, 4, 5, 7] : decades < 4 ? [1, 2, 5] : [1];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
      marks.push(...factors.map((factor) => factor * 10 ** power));
    }
    return marks.filter((mark) => mark >= low && mark <= high);
  };

  // Where things are on a drawing of this size.
  const layout = (width, height) => {
    const [low, high] = heights();
    const plot = { left: LEFT, top: TOP, width: width - LEFT - RIGHT, height: height - TOP - BOTTOM };
    const rise = isLog
      ? (ms) => Math.log(Math.max(ms, low) / low) / Math.log(high / low)
      : (ms) => (ms - low) / (high - low);
    return {
      ...plot, low, high,
      x: (s) => plot.left + ((s - view[0]) / (view[1] - view[0])) * plot.width,
      y: (ms) => plot.top + plot.height * (1 - rise(ms)),
    };
  };
  const colours = () => {
    const style = getComputedStyle(root);
    return (name) => style.getPropertyValue(`--${name}`).trim();
  };
  const shade = (line) => `${line.is_error ? "error" : "ok"}${line.style % STYLES}`;

  const drawAxes = (ctx, at, colour) => {
    ctx.font = "12px system-ui, sans-serif";
    ctx.lineWidth = 1;
    ctx.strokeStyle = colour("line");
    ctx.fillStyle = colour("soft");
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const mark of heightMarks(at.low, at.high, at.height)) {
      const y = Math.round(at.y(mark)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(at.left, y);
      ctx.lineTo(at.left + at.width, y);
      ctx.stroke();
      ctx.fillText(latency(mark), at.left - 6, y);
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    const step = steps(view[0], view[1], Math.max(2, at.width / 70));
    for (const mark of range(view[0], view[1], step)) {
      const x = Math.round(at.x(mark)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, at.top);
      ctx.lineTo(x, at.top + at.height);
      ctx.stroke();
      ctx.fillText(time(mark, step), Math.min(x, at.left + at.width - 14), at.top + at.height + 5);
    }
    ctx.fillText("since the attack's first result", at.left + at.width / 2, at.top + at.height + 21);
  };

  // A column of pixels holds at most its lowest and its highest point: a million draw as fast.
  const thinned = (line, first, last, at) => {
    if (last - first <= 4 * at.width) return Array.from({ length: last - first }, (_, i) => first + i);
    const kept = [];
    for (let i = first; i < last;) {
      const column = Math.floor(at.x(line.x[i]));
      let low = i, high = i;
      for (; i < last && Math.floor(at.x(line.x[i])) === column; i += 1) {
        if (line.y[i] < line.y[low]) low = i;
        if (line.y[i] > line.y[high]) high = i;
      }
      kept.push(Math.min(low, high), ...(low === high ? [] : [Math.max(low, high)]));
    }
    return kept;
  };
  const drawLine = (ctx, line, at, colour) => {
    const [first, last] = inView(line), points = thinned(line, first, last, at);
    ctx.strokeStyle = ctx.fillStyle = colour(shade(line));
    ctx.lineWidth = points.length > at.width ? 1 : 1.5;
    ctx.globalAlpha = points.length > at.width ? 0.75 : 1;
    ctx.lineJoin = "round";
    ctx.setLineDash(line.is_error ? [6, 3] : []);
    ctx.beginPath();
    points.forEach((i, k) => ctx[k === 0 ? "moveTo" : "lineTo"](at.x(line.x[i]), at.y(line.y[i])));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    if (points.length > at.width / 4) return;
    for (const i of points) {
      const x = at.x(line.x[i]), y = at.y(line.y[i]);
      ctx.beginPath();
      if (line.is_error) {
        ctx.moveTo(x - 3, y - 3); ctx.lineTo(x + 3, y + 3); ctx.moveTo(x + 3, y - 3); ctx.lineTo(x - 3, y + 3);
        ctx.stroke();
      } else {
        ctx.arc(x, y, 2.5, 0, 7);
        ctx.fill();
      }
    }
  };
  const drawAll = (ctx, width, height) => {
    const at = layout(width, height), colour = colours();
    ctx.fillStyle = colour("ground");
    ctx.fillRect(0, 0, width, height);
    drawAxes(ctx, at, colour);
    ctx.save();
    ctx.beginPath();
    ctx.rect(at.left, at.top, at.width, at.height);
    ctx.clip();
    // Errors are few and stand in front.
    for (const isError of [false, true]) {
      series.filter((line) => line.shown && line.is_error === isError).forEach((line) => drawLine(ctx, line, at, colour));
    }
    ctx.restore();
    return at;
  };

  let at = null;
  const draw = () => {
    const { clientWidth: width, clientHeight: height } = chart, scale = devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const ctx = canvas.getContext("2d");
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    at = drawAll(ctx, width, height);
    for (const each of [hair, brush]) {
      each.style.top = `${at.top}px`;
      each.style.height = `${at.height}px`;
    }
    part("reset").disabled = view[0] === 0 && view[1] === end;
    chart.dataset.view = view.map((s) => s.toFixed(3)).join(" ");
  };
  const show = (low, high) => {
    const least = end / 1e5;
    if (high - low < least) return;
    view = [Math.max(0, low), Math.min(end, high)];
    hide();
    draw();
  };
  const zoom = (factor) => {
    const middle = cursor ?? (view[0] + view[1]) / 2, half = ((view[1] - view[0]) / 2) * factor;
    show(middle - half, middle + half);
  };

  // Values at a moment: of each series the point nearest to it.
  const hide = () => { cursor = null; hair.hidden = tip.hidden = true; };
  const nearest = (line, s) => {
    const after = lower(line.x, s), before = after - 1;
    if (after >= line.x.length) return before;
    return before >= 0 && s - line.x[before] <= line.x[after] - s ? before : after;
  };
  const point = (s, say) => {
    cursor = Math.min(view[1], Math.max(view[0], s));
    const x = at.x(cursor), rows = [];
    for (const line of series.filter((each) => each.shown).slice(0, 12)) {
      const i = nearest(line, cursor);
      rows.push(`${line.label}: ${latency(line.y[i])} at ${line.x[i].toFixed(3)} s`);
    }
    const head = document.createElement("b");
    head.textContent = `${cursor.toFixed(3)} s`;
    tip.replaceChildren(head, ...rows.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
    hair.hidden = tip.hidden = false;
    hair.style.left = `${x}px`;
    const isLeft = x < chart.clientWidth / 2;
    tip.style.top = `${at.top + 4}px`;
    tip.style.left = isLeft ? `${x + 10}px` : "auto";
    tip.style.right = isLeft ? "auto" : `${chart.clientWidth - x + 10}px`;
    if (say) part("said").textContent = rows.join("; ");
  };
  const second = (event) => {
    const x = event.clientX - chart.getBoundingClientRect().left;
    const share = Math.min(1, Math.max(0, (x - at.left) / at.width));
    return view[0] + share * (view[1] - view[0]);
  };

  chart.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = second(event);
    chart.setPointerCapture(event.pointerId);
    chart.focus({ preventScroll: true });
  });
  chart.addEventListener("pointermove", (event) => {
    const now = second(event);
    point(now, false);
    if (from === null) return;
    const [left, right] = [at.x(Math.min(from, now)), at.x(Math.max(from, now))];
    brush.hidden = false;
    brush.style.left = `${left}px`;
    brush.style.width = `${right - left}px`;
  });
  chart.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const ends = [from, second(event)].sort((a, b) => a - b);
    from = null;
    brush.hidden = true;
    // A press that hardly moved is a click.
    if (at.x(ends[1]) - at.x(ends[0]) > 6) show(...ends);
  });
  chart.addEventListener("pointercancel", () => { from = null; brush.hidden = true; });
  chart.addEventListener("pointerleave", () => { if (from === null) hide(); });
  chart.addEventListener("dblclick", () => show(0, end));
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const width = view[1] - view[0], now = cursor ?? view[0];
    const moves = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1 };
    if (event.key in moves) point(now + moves[event.key] * width, true);
    else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "Escape") show(0, end);
    else return;
    event.preventDefault();
  });

  const toggle = (button, isOn) => button.setAttribute("aria-pressed", String(isOn));
  part("log").addEventListener("click", ({ currentTarget }) => {
    isLog = !isLog;
    toggle(currentTarget, isLog);
    draw();
  });
  const paint = (isDark) => {
    root.dataset.theme = isDark ? "dark" : "light";
    toggle(part("dark"), isDark);
    draw();
  };
  part("dark").addEventListener("click", () => paint(root.dataset.theme !== "dark"));
  part("reset").addEventListener("click", () => show(0, end));

  // The picture has what the page shows: title, the names of the series, and the chart.
  const picture = () => {
    const shown = series.filter((line) => line.shown), width = 1600, row = 20, head = 44 + row * shown.length;
    const out = document.createElement("canvas"), height = head + 800;
    [out.width, out.height] = [width * 2, height * 2];
    const ctx = out.getContext("2d"), colour = colours();
    ctx.scale(2, 2);
    ctx.fillStyle = colour("ground");
    ctx.fillRect(0, 0, width, head);
    ctx.fillStyle = colour("ink");
    ctx.textBaseline = "middle";
    ctx.font = "600 20px system-ui, sans-serif";
    ctx.fillText(document.title, LEFT, 24, width - LEFT - RIGHT);
    ctx.font = "13px system-ui, sans-serif";
    shown.forEach((line, i) => {
      const y = 50 + i * row;
      ctx.strokeStyle = colour(shade(line));
      ctx.lineWidth = 3;
      ctx.setLineDash(line.is_error ? [6, 3] : []);
      ctx.beginPath();
      ctx.moveTo(LEFT, y);
      ctx.lineTo(LEFT + 26, y);
      ctx.stroke();
      ctx.fillText(line.label, LEFT + 34, y, width - LEFT - RIGHT - 34);
    });
    ctx.setLineDash([]);
    ctx.translate(0, head);
    drawAll(ctx, width, 800);
    return out;
  };
  part("png").addEventListener("click", () => {
    const link = document.createElement("a");
    link.download = `${document.title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "plot"}.png`;
    picture().toBlob((blob) => {
      link.href = URL.createObjectURL(blob);
      link.dataset.bytes = String(blob.size);
      link.click();
      part("png").dataset.saved = `${link.download} ${blob.type}`;
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }, "image/png");
  });

  const legend = part("legend");
  for (const line of series) {
    const item = document.createElement("li"), button = document.createElement("button"), key = document.createElement("span");
    button.type = "button";
    key.className = `key ${line.is_error ? "error" : "ok"} s${line.style % STYLES}`;
    button.append(key, line.label);
    toggle(button, true);
    button.addEventListener("click", () => {
      line.shown = !line.shown;
      toggle(button, line.shown);
      draw();
    });
    item.append(button);
    legend.append(item);
  }

  const preferred = matchMedia("(prefers-color-scheme: dark)");
  preferred.addEventListener("change", (event) => paint(event.matches));
  new ResizeObserver(draw).observe(chart);
  paint(preferred.matches);
})();

// Values under the pointer, zoom, and switching lines off. The charts are readable without it.
"use strict";
(() => {
  const WIDTH = 1000;
  const data = JSON.parse(document.getElementById("data").textContent);

  const { print, clock } = words;

  document.querySelectorAll(".charts").forEach((group) => {
    const journey = data[Number(group.dataset.journey)];
    if (!journey) return;
    const { starts, end } = journey;
    const middle = (i) => (starts[i] + (starts[i + 1] ?? end)) / 2;
    let view = [0, end];
    const charts = journey.charts.map((chart) => {
      const figure = document.getElementById(chart.id);
      const part = (name) => figure.querySelector(name);
      return { ...chart, figure, canvas: part(".canvas"), svg: part(".canvas > svg"), hair: part(".hair"), brush: part(".brush"), tip: part(".tip"), x: part(".x") };
    });
    const reset = group.querySelector(".reset");
    group.querySelector(".scripted").hidden = false;

    const show = (from, to) => {
      view = [from, to];
      reset.disabled = from === 0 && to === end;
      const left = (from / end) * WIDTH, width = ((to - from) / end) * WIDTH;
      const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400];
      const step = steps.find((s) => (to - from) / s <= 7) ?? Math.ceil((to - from) / 7 / 86400) * 86400;
      for (const chart of charts) {
        chart.svg.setAttribute("viewBox", `${left} 0 ${width} 240`);
        chart.x.replaceChildren();
        for (let s = Math.ceil(from / step) * step; s <= to; s += step) {
          const label = document.createElement("span");
          label.style.left = `${((s - from) / (to - from)) * 100}%`;
          label.textContent = clock(s, end);
          chart.x.append(label);
        }
      }
    };
    const second = (chart, clientX) => {
      const box = chart.canvas.getBoundingClientRect();
      const part = Math.min(1, Math.max(0, (clientX - box.left) / box.width));
      return view[0] + part * (view[1] - view[0]);
    };
    const nearest = (s) => {
      let low = 0, high = starts.length - 1;
      while (low < high) {
        const mid = (low + high + 1) >> 1;
        if (starts[mid] <= s) low = mid; else high = mid - 1;
      }
      return low;
    };
    const hide = () => charts.forEach((c) => { c.hair.hidden = true; c.tip.hidden = true; });
    const point = (chart, index) => {
      const at = Math.min(1, Math.max(0, (middle(index) - view[0]) / (view[1] - view[0])));
      for (const each of charts) {
        each.hair.hidden = false;
        each.hair.style.left = `${at * 100}%`;
        each.tip.hidden = each !== chart;
      }
      const head = document.createElement("b");
      head.textContent = clock(starts[index], end);
      const rows = chart.names.map((name, line) => {
        const value = chart.values[line][index];
        const row = document.createElement("div");
        row.textContent = `${name}: ${value === null || value === undefined ? "–" : print[chart.unit](value)}`;
        return row;
      });
      chart.tip.replaceChildren(head, ...rows);
      chart.tip.style.left = at < 0.5 ? `calc(${at * 100}% + 10px)` : "auto";
      chart.tip.style.right = at < 0.5 ? "auto" : `calc(${(1 - at) * 100}% + 10px)`;
    };

    for (const chart of charts) {
      let from = null, index = 0;
      chart.canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0 || event.pointerType === "touch") return;
        from = second(chart, event.clientX);
        chart.canvas.setPointerCapture(event.pointerId);
        event.preventDefault();
        chart.canvas.focus({ preventScroll: true });
      });
      chart.canvas.addEventListener("pointermove", (event) => {
        const now = second(chart, event.clientX);
        index = nearest(now);
        point(chart, index);
        if (from === null) return;
        const scale = 100 / (view[1] - view[0]);
        chart.brush.hidden = false;
        chart.brush.style.left = `${(Math.min(from, now) - view[0]) * scale}%`;
        chart.brush.style.width = `${Math.abs(now - from) * scale}%`;
      });
      chart.canvas.addEventListener("pointerup", (event) => {
        if (from === null) return;
        const ends = [from, second(chart, event.clientX)].sort((a, b) => a - b);
        from = null;
        chart.brush.hidden = true;
        if (ends[1] - ends[0] > Math.max(1, (view[1] - view[0]) / 50)) show(ends[0], ends[1]);
      });
      chart.canvas.addEventListener("pointercancel", () => { from = null; chart.brush.hidden = true; });
      chart.canvas.addEventListener("pointerleave", () => { if (from === null) hide(); });
      chart.canvas.addEventListener("dblclick", () => show(0, end));
      chart.canvas.addEventListener("blur", hide);
      chart.canvas.addEventListener("keydown", (event) => {
        const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
        if (event.key === "Escape") { hide(); show(0, end); return; }
        if (!(event.key in steps)) return;
        event.preventDefault();
        const [first, last] = [nearest(view[0]), nearest(view[1])];
        index = Math.min(last, Math.max(first, index + steps[event.key]));
        point(chart, index);
      });
      chart.figure.querySelectorAll(".legend button").forEach((button) => {
        button.addEventListener("click", () => {
          const on = button.getAttribute("aria-pressed") !== "true";
          button.setAttribute("aria-pressed", String(on));
          chart.svg.querySelector(`g[data-line="${button.dataset.line}"]`).classList.toggle("off", !on);
        });
      });
    }
    reset.addEventListener("click", () => show(0, end));
  });

  // A definition that is linked to must not stay folded away.
  const reveal = () => {
    const journey = location.hash.startsWith("#journey-") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (journey && journey.tagName === "DETAILS") { journey.open = true; journey.scrollIntoView(); }
    const target = location.hash.startsWith("#def-") && document.getElementById(location.hash.slice(1));
    if (!target) return;
    document.getElementById("definitions-text").open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    if (event.target.closest?.('a[href^="#def-"]')) setTimeout(reveal);
  });
  reveal();
})();

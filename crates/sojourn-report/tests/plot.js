// Runs in the page of `plot`, after its own script: see plot.rs. Uses the chart and leaves what it found.
(async () => {
  const report = {}, part = (id) => document.getElementById(id);
  const frame = () => new Promise((done) => setTimeout(done, 60));
  const until = async (is) => { for (let i = 0; i < 50 && !is(); i += 1) await frame(); };
  await frame();
  const chart = part("chart"), canvas = part("canvas");
  report.overflow = document.documentElement.scrollWidth > innerWidth;
  report.hidden = chart.hidden;
  if (!chart.hidden) {
    // How many pixels of the drawing are not the colour of its corner.
    const painted = () => {
      const probe = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
      const ctx = probe.getContext("2d", { willReadFrequently: true });
      ctx.drawImage(canvas, 0, 0);
      const { data } = ctx.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) count += 1;
      return count;
    };
    report.painted = painted();
    const box = chart.getBoundingClientRect();
    const at = (share) => ({ clientX: box.left + 62 + (box.width - 74) * share, clientY: box.top + 40, bubbles: true, pointerId: 1, pointerType: "mouse", button: 0 });
    chart.setPointerCapture = () => {};
    chart.dispatchEvent(new PointerEvent("pointermove", at(0.5)));
    report.tip = part("tip").textContent;
    report.whole = chart.dataset.view;
    chart.dispatchEvent(new PointerEvent("pointerdown", at(0.25)));
    chart.dispatchEvent(new PointerEvent("pointermove", at(0.5)));
    report.brushed = !part("brush").hidden;
    chart.dispatchEvent(new PointerEvent("pointerup", at(0.5)));
    report.zoomed = chart.dataset.view;
    chart.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    report.reset = chart.dataset.view;
    chart.dispatchEvent(new PointerEvent("pointerdown", at(0.25)));
    chart.dispatchEvent(new PointerEvent("pointerup", at(0.25)));
    report.clicked = chart.dataset.view;
    const key = (name) => chart.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
    key("ArrowRight");
    report.said = part("said").textContent;
    key("+");
    report.nearer = chart.dataset.view;
    key("Escape");
    report.escaped = chart.dataset.view;
    const state = (button) => button.getAttribute("aria-pressed");
    const picture = () => canvas.toDataURL();
    let before = picture();
    part("log").click();
    report.linear = state(part("log")) === "false" && picture() !== before;
    before = picture();
    const theme = document.documentElement.dataset.theme;
    part("dark").click();
    report.themed = document.documentElement.dataset.theme !== theme && picture() !== before;
    const series = [...document.querySelectorAll("#legend button")];
    report.legend = series.map((button) => button.textContent);
    series.forEach((button) => button.click());
    report.empty = painted() < report.painted && series.every((button) => state(button) === "false");
    series.forEach((button) => button.click());
    HTMLAnchorElement.prototype.click = function () { report.link = `${this.download} ${this.href.split(":")[0]} ${Number(this.dataset.bytes) > 10000}`; };
    part("png").click();
    await until(() => part("png").dataset.saved);
    report.saved = part("png").dataset.saved;
  }
  report.errors = errors;
  document.documentElement.setAttribute("data-report", JSON.stringify(report));
})();

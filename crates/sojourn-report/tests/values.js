// Runs in the report's page, after its own script: what the tip of every chart says at each second. See browser.rs.
const report = { charts: {}, zoomed: {} };
report.dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.querySelectorAll("details").forEach((each) => { each.open = true; });
const SECONDS = 60;
document.querySelectorAll(".journey .canvas[tabindex]").forEach((canvas) => {
  const title = canvas.closest("figure").querySelector("figcaption").textContent.trim();
  const point = (kind, part) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(kind, { clientX: box.left + box.width * part, clientY: box.top + 9, bubbles: true, pointerId: 1, pointerType: "mouse", button: 0 }));
  };
  const tip = () => [...canvas.querySelector(".tip").children].map((row) => row.textContent);
  canvas.setPointerCapture = () => {};
  report.charts[title] = [];
  for (let second = 0; second < SECONDS; second += 1) {
    point("pointermove", (second + 0.5) / SECONDS);
    report.charts[title].push(tip());
  }
  // The middle half: its own middle is the run's.
  point("pointerdown", 0.25);
  point("pointermove", 0.75);
  point("pointerup", 0.75);
  point("pointermove", 0.51);
  report.zoomed[title] = tip();
  canvas.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
});
report.errors = errors;
document.documentElement.setAttribute("data-report", JSON.stringify(report));

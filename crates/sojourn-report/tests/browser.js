// Runs in the report's page, after its own script: see browser.rs.
const report = {};
report.dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.querySelectorAll("details").forEach((each) => { each.open = true; });
const boxes = [...document.querySelectorAll(".canvas > svg, .fall svg")].map((svg) => svg.getBoundingClientRect());
report.svgs = boxes.length;
report.flat = boxes.filter((box) => box.width < 20 || box.height < 8).length;
report.overflow = document.documentElement.scrollWidth > innerWidth;
const traffic = document.querySelector("#traffic .canvas[tabindex]");
if (traffic) {
  const { left, top, width } = traffic.getBoundingClientRect();
  traffic.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width * 0.3, clientY: top + 9, bubbles: true, pointerId: 1, pointerType: "mouse" }));
  report.traffic = traffic.querySelector(".tip").textContent;
}
const canvas = document.querySelector(".journey .canvas[tabindex]");
if (canvas) {
  const box = canvas.getBoundingClientRect();
  const at = (part) => ({ clientX: box.left + box.width * part, clientY: box.top + 9, bubbles: true, pointerId: 1, pointerType: "mouse", button: 0 });
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent("pointermove", at(0.3)));
  report.tip = canvas.querySelector(".tip").textContent;
  canvas.dispatchEvent(new PointerEvent("pointerdown", at(0.25)));
  canvas.dispatchEvent(new PointerEvent("pointermove", at(0.75)));
  canvas.dispatchEvent(new PointerEvent("pointerup", at(0.75)));
  report.zoomed = canvas.querySelector("svg").getAttribute("viewBox");
  canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  report.stepped = !canvas.querySelector(".tip").hidden;
  canvas.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  report.reset = canvas.querySelector("svg").getAttribute("viewBox");
  const button = canvas.closest("figure").querySelector(".legend button");
  button.click();
  report.off = canvas.querySelector("g").classList.contains("off") && button.getAttribute("aria-pressed") === "false";
}
report.errors = errors;
document.documentElement.setAttribute("data-report", JSON.stringify(report));

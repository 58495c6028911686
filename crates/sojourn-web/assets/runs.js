// The runs of the folder: their headline figures, their reports, two of them compared.
"use strict";
const runs = (() => {
  const part = (id) => document.getElementById(id);
  const cell = (text, name = "", kind = "td") => {
    const element = document.createElement(kind);
    element.textContent = text;
    element.className = name;
    return element;
  };
  const radio = (side, run) => {
    const element = document.createElement("td"), input = document.createElement("input");
    input.type = "radio";
    input.name = side;
    input.value = run.file;
    input.setAttribute("aria-label", `${side}: ${run.name}, ${run.start}`);
    element.append(input);
    return element;
  };
  const ns = (value) => (value === null ? "–" : words.print.ns(value));
  const row = (run) => {
    const line = document.createElement("tr"), head = cell("", "", "th"), link = document.createElement("a"), start = document.createElement("small");
    head.scope = "row";
    link.href = `runs/${encodeURIComponent(run.file)}`;
    link.textContent = run.name;
    start.textContent = run.start;
    head.append(link, start);
    const verdict = cell("", `outcome ${run.outcome}`), why = document.createElement("small");
    why.textContent = run.headline;
    verdict.append(run.outcome, why);
    line.append(radio("before", run), radio("after", run), head, verdict,
      cell(words.print.count(run.started), "n"), cell(words.print.per_second(run.arrivals_per_s), "n"),
      cell(ns(run.p50_ns), "n"), cell(ns(run.p99_ns), "n"), cell(words.print.count(run.lost), "n"), cell(words.print.count(run.failed), "n"));
    return line;
  };
  const chosen = () => ["before", "after"].map((side) => document.querySelector(`input[name=${side}]:checked`)?.value);
  const form = part("compare"), button = form.querySelector("button");
  form.addEventListener("change", () => {
    const [before, after] = chosen();
    button.disabled = !before || !after || before === after;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [before, after] = chosen();
    if (before && after) location.href = `compare?${new URLSearchParams({ before, after })}`;
  });

  const show = async () => {
    const about = part("runs-words");
    about.textContent = "reading …";
    try {
      const answer = await fetch("runs");
      if (!answer.ok) throw new Error(new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("p").textContent);
      const list = await answer.json();
      part("run-rows").replaceChildren(...list.runs.map(row));
      const beyond = list.runs_beyond > 0 ? `; ${list.runs_beyond} older ones are not listed` : "";
      const bad = list.unreadable.map((why) => ` Unreadable: ${why}.`).join("");
      about.textContent = list.runs.length === 0 ? `No run files in ${list.folder} yet.${bad}` : `${list.runs.length} in ${list.folder}, the latest first${beyond}.${bad} Choose two to compare them.`;
    } catch (error) {
      about.textContent = `The list cannot be had: ${error.message}`;
    }
  };
  return { show };
})();

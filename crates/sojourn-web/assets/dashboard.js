// The run as it goes on: takes frames from the server and shows them.
"use strict";
(() => {
  const part = (id) => document.getElementById(id);
  const STRETCHES = { preparing: "preparing", warm_up: "warm-up", steady: "steady", drain: "drain", over: "over" };
  const STATES = { none_yet: "nothing yet", holds: "✓ holds", fails: "✗ fails" };
  const { print, clock } = words;
  const seconds = (ns) => ns / 1e9;
  const known = (value, how) => (value === null || value === undefined ? "–" : how(value));
  const element = (name, text, kind = "") => {
    const made = document.createElement(name);
    made.textContent = text;
    made.className = kind;
    return made;
  };

  // What is shown of a run.
  const WAITING_MAX = 60;
  let chosen = "", newest = -1, isBegun = false, isBeginning = false, isHeld = false, waiting = [], frame = null, run = 0;

  // Sets what is another than before; what is chosen of the text stays so, since its node stays.
  const say = (into, text, kind = "") => {
    if (into.firstChild === null) into.textContent = text;
    else if (into.firstChild.data !== text) into.firstChild.data = text;
    if (into.className !== kind) into.className = kind;
  };
  // A child for each of `all`, in their order: those that are there already stay, with focus and selection.
  const keep = (parent, all, key, make, fill) => {
    const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
    all.forEach((each, place) => {
      const name = key(each, place), child = known.get(name) ?? make(each);
      child.dataset.key = name;
      known.delete(name);
      if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
      fill(child, each);
    });
    known.forEach((child) => child.remove());
  };
  // A table's row: its head, and as many cells.
  const row = (text, cells) => {
    const made = element("tr", ""), head = element("th", text);
    head.scope = "row";
    made.append(head, ...Array.from({ length: cells }, () => element("td", "")));
    return made;
  };
  const tile = (name, value, remark, kind = "") => ({ name, value, remark, kind });
  const makeTile = ({ name }) => {
    const box = element("div", ""), figure = element("dd", "");
    figure.append(element("span", ""), element("span", ""));
    box.append(element("dt", name), figure);
    return box;
  };
  const fillTile = (box, { value, remark, kind }) => {
    box.className = `tile ${kind}`;
    say(box.lastChild.firstChild, value, "value");
    say(box.lastChild.lastChild, remark, "remark");
  };
  const tiles = ({ counts, health, ...run }) => {
    const bad = counts.lost + counts.failed + counts.root_failed;
    const nearest = health.nearest ? `${Math.round(health.nearest.share * 100)} % of its limit: ${health.nearest.text}` : "far from its limits";
    const isLate = health.lag_max_ns > 0 && health.lag_p99_ns !== null && health.lag_p99_ns > health.lag_max_ns;
    keep(part("tiles"), [
      tile("Asked", print.per_second(run.asked_per_s), run.rate_factor === 1 ? "arrivals due" : `at ${run.rate_factor} × the plan's rate`),
      tile("Delivered", print.per_second(run.delivered_per_s), `${print.count(counts.missed)} missed so far`, counts.missed > 0 ? "bad" : ""),
      tile("Started", print.count(counts.started), `${print.count(counts.scheduled)} were due`),
      tile("In flight", print.count(run.in_flight), run.clients === null ? "journeys" : `${print.count(run.clients)} clients`),
      tile("Completed", print.count(counts.completed), `${print.count(counts.late)} more were late`),
      tile("Lost or failed", print.count(bad), `${print.count(counts.lost)} lost, ${print.count(counts.failed)} failed, ${print.count(counts.root_failed)} at the root`, bad > 0 ? "bad" : ""),
      tile("Generator's lag", known(health.lag_p99_ns, print.ns), health.lag_max_ns > 0 ? `p99; void above ${print.ns(health.lag_max_ns)}` : "p99", isLate ? "bad" : ""),
      tile("Generator", health.nearest ? `${Math.round(health.nearest.share * 100)} %` : "–", nearest, health.nearest && health.nearest.share >= 1 ? "bad" : ""),
    ], ({ name }) => name, makeTile, fillTile);
    const defects = part("defects");
    defects.hidden = health.defects.length === 0;
    keep(defects, health.defects, (_, place) => String(place), () => element("li", ""), (item, why) => say(item, `void: ${why}`));
  };
  const thresholds = (all) => {
    part("thresholds").hidden = all.length === 0;
    keep(part("threshold-rows"), all, ({ text }, place) => `${place} ${text}`, ({ text }) => row(text, 2), (line, each) => {
      const [, measured, state] = line.children, kind = { holds: "held", fails: "broken" }[each.state] ?? "";
      if (line.className !== kind) line.className = kind;
      say(measured, each.measured_text);
      say(state, STATES[each.state], "outcome");
    });
  };
  const counted = (all) => all.map(({ name, count }) => `${name}: ${print.count(count)}`).join(", ");
  const steps = ({ steps: all }) => {
    part("steps").hidden = all.length === 0;
    keep(part("step-rows"), all, ({ name }, place) => `${place} ${name}`, ({ name }) => row(name, 6), (line, step) => {
      const { p50_ns, p99_ns } = step.response_so_far;
      const figures = [print.per_second(step.requests_per_s), print.count(step.requests), known(p50_ns, print.ns), known(p99_ns, print.ns)];
      const [, ...cells] = line.children;
      figures.forEach((figure, place) => say(cells[place], figure, "n"));
      say(cells[4], counted(step.statuses));
      say(cells[5], step.failed > 0 ? counted(step.errors) : "–", step.failed > 0 ? "bad" : "");
    });
  };
  const news = (all, beyond) => {
    const list = part("news");
    for (const each of all.filter(({ number }) => number > newest)) {
      newest = each.number;
      const item = element("li", "", `news-${each.kind}`), times = each.count > 1 ? ` (${print.count(each.count)} ×)` : "";
      const at = clock(Math.round(seconds(each.at_ns) * 10) / 10, seconds(frame.planned_ns));
      item.append(element("span", at, "at"), element("span", each.kind, "tag"), ` ${each.journey ? `${each.journey}: ` : ""}${each.text}${times}`);
      list.prepend(item);
    }
    while (list.children.length > 100) list.lastChild.remove();
    part("no-news").hidden = list.children.length > 0;
    part("news-beyond").textContent = beyond > 0 ? `${print.count(beyond)} more are not listed.` : "";
  };
  const choose = (journeys) => {
    const select = part("journey"), names = journeys.map(({ name }) => name);
    part("chooser").hidden = names.length < 2;
    if (names.join("\n") !== [...select.options].map(({ value }) => value).join("\n")) select.replaceChildren(...names.map((name) => new Option(name, name)));
    if (!names.includes(chosen)) chosen = names[0] ?? "";
    select.value = chosen;
    return journeys.find(({ name }) => name === chosen);
  };
  const journey = (one) => {
    part("flow").replaceChildren();
    charts.choose(one?.name ?? "");
    if (!one) return;
    part("flow-words").textContent = one.stages.length === 0
      ? "No stages: what is measured ends with the answer."
      : `${print.per_second(one.started_per_s)} started, ${print.per_second(one.completed_per_s)} completed, ${print.count(one.in_flight)} in flight. Rates and hops are of the last second.`;
    if (one.stages.length > 0) part("flow").append(graph.draw(one));
    steps(one);
  };
  const show = () => {
    if (!frame || isHeld) return;
    const planned = seconds(frame.planned_ns), elapsed = seconds(frame.elapsed_ns);
    document.title = `${frame.name} · Sojourn`;
    say(part("name"), frame.of ? `${frame.name} · ${frame.of}` : frame.name);
    part("stretch").textContent = STRETCHES[frame.stretch] ?? frame.stretch;
    const isBad = frame.health.defects.length > 0 || frame.thresholds.some(({ state }) => state === "fails");
    part("top").className = `top ${frame.health.defects.length > 0 ? "void" : isBad ? "fail" : "pass"}`;
    part("progress").hidden = planned === 0;
    part("progress").value = planned > 0 ? Math.min(1, elapsed / planned) : 0;
    const end = Math.max(planned, elapsed), planned_text = planned > 0 ? ` of ${clock(Math.round(planned), end)}` : ", until it is ended";
    part("time").textContent = `${clock(Math.floor(elapsed), end)}${planned_text}`;
    tiles(frame);
    thresholds(frame.thresholds);
    journey(choose(frame.journeys));
    news(frame.news, frame.news_beyond);
  };

  const begin = async () => {
    if (isBeginning) return;
    isBegun = false;
    isBeginning = true;
    const of = run;
    try {
      const answer = await fetch("history");
      if (!answer.ok) return;
      const history = await answer.json();
      // Another run has begun meanwhile: the next second asks for its lines.
      if (of !== run) return;
      charts.begin(history);
      isBegun = true;
      const late = waiting;
      waiting = [];
      late.forEach(line);
    } catch { /* The next second tries again. */ } finally { isBeginning = false; }
  };
  const line = (message) => {
    if (message.frame.stretch === "over") return;
    if (isBegun && charts.add(message.at_s, message.values)) return;
    waiting.push(message);
    if (waiting.length > WAITING_MAX) waiting.shift();
    begin();
  };
  const take = (message) => {
    // Another run at the same address has news and lines of its own.
    if (frame && message.frame.number < frame.number) {
      newest = -1;
      part("news").replaceChildren();
      isBegun = false;
      waiting = [];
      run += 1;
    }
    frame = message.frame;
    line(message);
    show();
  };

  const status = (text) => { part("connection").textContent = text; };
  const connect = () => {
    const source = new EventSource("live");
    source.addEventListener("open", () => { status("live"); begin(); });
    source.addEventListener("message", (event) => take(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      if (frame?.stretch === "over") {
        source.close();
        status("The run is over. What stands here is its last second; its report is beside its run file.");
      } else status(source.readyState === EventSource.CLOSED ? "No run is going on here: see Runs." : "The connection is lost: trying again.");
    });
  };

  const view = () => {
    const [name] = (location.hash.slice(1) || "live").split("/");
    // The link past the head of the page.
    if (name === "main") return;
    const wanted = ["live", "report", "runs"].includes(name) ? name : "live";
    for (const each of ["live", "report", "runs"]) part(each).hidden = each !== wanted;
    document.querySelectorAll("[data-view]").forEach((link) => {
      if (link.dataset.view === wanted) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    });
    if (wanted === "runs") runs.show();
    if (wanted === "report") report();
  };
  const report = async () => {
    const box = part("report-frame"), about = part("report-words").firstChild;
    about.textContent = "Being made … ";
    const answer = await fetch("report", { method: "HEAD" }).catch(() => null);
    box.hidden = !answer?.ok;
    about.textContent = answer?.ok ? "Made from the run file as it stands. " : "There is no run going on: see Runs. ";
    if (answer?.ok) box.src = "report";
  };
  part("report-again").addEventListener("click", report);
  part("hold").addEventListener("click", ({ target }) => {
    isHeld = !isHeld;
    target.setAttribute("aria-pressed", String(isHeld));
    charts.hold(isHeld);
    show();
  });
  part("reset").addEventListener("click", () => charts.zoom(null));
  part("journey").addEventListener("change", (event) => { chosen = event.target.value; show(); });
  addEventListener("hashchange", view);
  view();
  connect();
})();

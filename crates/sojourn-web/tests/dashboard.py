"""Looks at a page in a real browser and prints what it found as JSON, for the tests beside it.

Arguments: the page's address, what to do there (a function below), and a folder for pictures.
"""

import json
import os
import shutil
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

PATIENCE_MS = 20_000
# A desk by day and by night, and a phone.
WINDOWS = [(1280, "light"), (1280, "dark"), (390, "light")]
# How often what is timed is done.
TIMES = 7


def browser_program():
    for name in ["chromium", "chromium-browser", "google-chrome"]:
        found = shutil.which(name)
        if found:
            return found
    sys.exit("no chromium on the PATH (apt-get install chromium)")


class Looker:
    """A page with an account of what it asked for and complained of."""

    def __init__(self, browser, address, width, scheme):
        self.errors = []
        self.elsewhere = []
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda asked: self.note(asked.url, address))
        self.page.goto(address, wait_until="commit")

    def hear(self, said):
        # That its pixels are read is this script's doing.
        is_ours = "getImageData" in said.text
        if said.type in ("error", "warning") and not is_ours:
            self.errors.append(said.text)

    def note(self, url, address):
        if not url.startswith(address.split("?")[0].split("#")[0]) and not url.startswith("data:"):
            self.elsewhere.append(url)

    def violations(self):
        found = Axe().run(self.page, options={"resultTypes": ["violations"]})
        return [
            {"rule": each["id"], "nodes": [node["html"][:160] for node in each["nodes"][:3]]}
            for each in found.response["violations"]
        ]

    def is_wider_than_window(self):
        return self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def wait_for_charts(page):
    page.wait_for_selector(".live-chart canvas", state="visible")
    page.wait_for_selector("#top:not(.none)")


def painted(page, chart):
    """Brings a chart into sight and waits until it is drawn."""
    chart.scroll_into_view_if_needed()
    page.wait_for_function(
        """(figure) => {
            const canvas = figure.querySelector('canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return pixels.some((value, i) => i % 4 === 3 && value > 0);
        }""",
        arg=chart.element_handle(),
    )


def drawn(page):
    """Of each chart: its name, how many pixels are painted, its legend's values."""
    for chart in page.locator(".live-chart").all():
        painted(page, chart)
    return page.evaluate(
        """() => [...document.querySelectorAll('.live-chart')].map((figure) => {
            const canvas = figure.querySelector('canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            let painted = 0;
            for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 0) painted += 1;
            const legend = Object.fromEntries([...figure.querySelectorAll('.legend button')].map((button) =>
                [button.childNodes[1].textContent.trim(), button.querySelector('.value').textContent]));
            const [place, plot] = [figure, figure.querySelector('.uplot')].map((each) => each.getBoundingClientRect());
            return { chart: figure.dataset.chart, painted, legend, fits: plot.right <= place.right + 1 };
        })"""
    )


def zoom(page):
    """Drags over a chart: whether all charts show less than before, and all of it again after Escape."""
    over = page.locator(".live-chart[data-chart=rate] .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=5)
    page.mouse.up()
    page.wait_for_selector("#reset:enabled")
    page.locator(".live-chart[data-chart=rate] .box").focus()
    page.keyboard.press("Escape")
    page.wait_for_selector("#reset:disabled")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".live-chart[data-chart=rate] .tip", state="visible")
    return page.locator(".live-chart[data-chart=rate] .tip").inner_text()


def tip_places(page):
    """Of each tip that is seen: whether it lies within its chart."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.tip')].filter((tip) => !tip.hidden).map((tip) => {
            const [inner, outer] = [tip, tip.closest('figure')].map((each) => each.getBoundingClientRect());
            return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top;
        })"""
    )


def live(browser, address, pictures):
    looks = []
    for width, scheme in WINDOWS:
        looker = Looker(browser, address, width, scheme)
        page = looker.page
        wait_for_charts(page)
        page.wait_for_selector("#flow svg")
        look = {
            "width": width,
            "scheme": scheme,
            "name": page.locator("#name").inner_text(),
            "charts": drawn(page),
            "flow": page.locator("#flow svg").get_attribute("aria-label"),
            "tiles": page.locator("#tiles").inner_text(),
            "thresholds": page.locator("#threshold-rows").inner_text(),
            "news": page.locator("#news").inner_text(),
            "violations": looker.violations(),
            "wider": looker.is_wider_than_window(),
        }
        if width > 1000:
            look["tip"] = zoom(page)
        look["tips_before"] = tip_places(page)
        page.screenshot(path=os.path.join(pictures, f"dashboard-{scheme}-{width}.png"), full_page=True)
        # The picture is made in a window of another size: the tip goes along with its point.
        look["tips_after"] = tip_places(page)
        if width > 1000:
            look["tip_after"] = page.locator(".live-chart[data-chart=rate] .tip").inner_text()
        look["errors"], look["elsewhere"] = looker.errors, looker.elsewhere
        looker.context.close()
        looks.append(look)
    return looks


def stays(browser, address, pictures):
    """Marks every row and chooses a text; what is left of both when a later second is shown."""
    looker = Looker(browser, address, 1280, "light")
    page = looker.page
    rows = "#tiles > div, #threshold-rows tr, #step-rows tr"
    page.wait_for_selector("#step-rows tr")
    page.evaluate(
        """(rows) => {
            document.querySelectorAll(rows).forEach((row) => { row.isMarked = true; });
            const [from, to] = document.querySelectorAll('#threshold-rows td:nth-child(2)');
            getSelection().setBaseAndExtent(from.firstChild, 0, to.firstChild, to.firstChild.length);
        }""",
        rows,
    )
    before = page.locator("#time").inner_text()
    page.wait_for_function("(before) => document.getElementById('time').innerText !== before", arg=before)
    return page.evaluate(
        """(rows) => {
            const all = [...document.querySelectorAll(rows)];
            return { rows: all.length, marked: all.filter((row) => row.isMarked).length, chosen: getSelection().toString() };
        }""",
        rows,
    ) | {"name": page.locator("#name").inner_text(), "errors": looker.errors}


def runs(browser, address, pictures):
    return [runs_at(browser, address, pictures, width, scheme) for width, scheme in WINDOWS]


def runs_at(browser, address, pictures, width, scheme):
    looker = Looker(browser, address + "#runs", width, scheme)
    page = looker.page
    page.wait_for_selector("#run-rows tr")
    rows = page.locator("#run-rows tr").all_inner_texts()
    violations, wider = looker.violations(), looker.is_wider_than_window()
    page.locator("#run-rows tr:nth-child(2) input[name=before]").check()
    page.locator("#run-rows tr:nth-child(1) input[name=after]").check()
    page.screenshot(path=os.path.join(pictures, f"runs-{scheme}-{width}.png"))
    page.locator("#compare button").click()
    page.wait_for_url("**/compare?**")
    compared = page.locator("body").inner_text()
    compare_violations, compare_wider = looker.violations(), looker.is_wider_than_window()
    page.go_back()
    page.wait_for_selector("#run-rows a")
    page.locator("#run-rows a").first.click()
    page.wait_for_url("**/runs/**")
    report = page.locator("h1").inner_text()
    report_violations = looker.violations()
    looker.context.close()
    return {
        "width": width,
        "scheme": scheme,
        "rows": rows,
        "compared": compared,
        "report": report,
        "violations": violations + compare_violations + report_violations,
        "wider": wider or compare_wider,
        "errors": looker.errors,
        "elsewhere": looker.elsewhere,
    }


def page(browser, address, pictures):
    """Any page, folded parts and all: what rules of accessibility and the console say."""
    looks = []
    for width, scheme in WINDOWS:
        looker = Looker(browser, address, width, scheme)
        looker.page.wait_for_load_state("load")
        looker.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        looks.append({
            "width": width,
            "scheme": scheme,
            "violations": looker.violations(),
            "wider": looker.is_wider_than_window(),
            "errors": looker.errors,
            "elsewhere": looker.elsewhere,
        })
        looker.context.close()
    return looks


def so_far(browser, address, pictures):
    looker = Looker(browser, address + "#report", 1280, "light")
    frame = looker.page.frame_locator("#report-frame")
    frame.locator("h1").wait_for()
    shown = frame.locator("h1").inner_text()
    kept = frame.locator(".kept").count()
    looker.page.screenshot(path=os.path.join(pictures, "report-so-far.png"))
    return {"shown": shown, "kept": kept, "errors": looker.errors, "elsewhere": looker.elsewhere}


LISTEN = """(kind) => {
    // The browser's own account of events knows when the frame was shown, in steps of 8 ms; the page's sees when all work
    // for it is done.
    let shown = 0;
    const observer = new PerformanceObserver((list) => {
        for (const each of list.getEntries()) if (each.name === kind) shown = Math.max(shown, each.duration);
    });
    observer.observe({ type: 'event', durationThreshold: 16 });
    window.span = new Promise((done) => addEventListener(kind, (event) => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
            const worked = performance.now() - event.timeStamp;
            // What the browser has to say comes with a later frame.
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
                observer.disconnect();
                done(Math.max(worked, shown));
            }, 50)));
        };
        channel.port2.postMessage(null);
    }), { capture: true, once: true }));
}"""


def until_painted(page, kind, act):
    """From an event's own time until the frame that follows it has been painted, milliseconds."""
    page.evaluate(LISTEN, kind)
    act()
    return page.evaluate("() => window.span")


def quick(browser, address, pictures):
    """What people do with the charts, by a real pointer: how long until they see it, milliseconds, each time."""
    looker = Looker(browser, address, 1280, "light")
    page = looker.page
    wait_for_charts(page)
    # The three with a line for each stage, together in the window.
    for name in ["waiting", "hop_p50", "hop_p99"]:
        painted(page, page.locator(f".live-chart[data-chart={name}]"))
    box = page.locator(".live-chart[data-chart=hop_p99] .u-over").bounding_box()
    at = lambda part: (box["x"] + box["width"] * part, box["y"] + 60)
    buttons = page.locator(".live-chart[data-chart=hop_p99] .legend button")
    times = {"move": [], "zoom": [], "legend": [], "whole": []}
    ranges = []
    for each in range(TIMES):
        page.mouse.move(*at(0.2))
        page.mouse.down()
        page.mouse.move(*at(0.5), steps=4)
        times["move"].append(until_painted(page, "mousemove", lambda: page.mouse.move(*at(0.7))))
        times["zoom"].append(until_painted(page, "mouseup", page.mouse.up))
        ranges.append(page.locator("#reset").is_enabled())
        page.locator(".live-chart[data-chart=hop_p99] .box").focus()
        times["whole"].append(until_painted(page, "keydown", lambda: page.keyboard.press("Escape")))
        ranges.append(page.locator("#reset").is_disabled())
        button = buttons.nth(each)
        times["legend"].append(until_painted(page, "click", button.click))
        ranges.append(button.get_attribute("aria-pressed") == "false")
    lines = page.locator(".live-chart .legend button").count()
    return {"lines": lines, "times": times, "did": all(ranges), "errors": looker.errors}


def main():
    address, what, pictures = sys.argv[1:4]
    looks = {"live": live, "runs": runs, "page": page, "so_far": so_far, "stays": stays, "quick": quick}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program(), args=["--no-sandbox"])
        print(json.dumps(looks[what](browser, address, pictures)))
        browser.close()


main()

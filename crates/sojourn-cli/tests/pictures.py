"""Writes pictures of a run for the documentation.

Arguments: what it is (terminal, dashboard or report), where (a file of a terminal's cells with their escapes, or an
address), and the folder for the pictures.
"""

import base64
import html
import os
import re
import shutil
import struct
import sys
import zlib

from playwright.sync_api import sync_playwright

PATIENCE_MS = 20_000
WIDTH, HEIGHT = 1100, 1150
# A terminal's colours, as many terminals have them.
COLOURS = ["#1c1f26", "#f2777a", "#8fce72", "#f0c674", "#6ea8fe", "#c49bf0", "#66c9c4", "#d5d8de"]
BRIGHT = ["#6b7280", "#ff9a9c", "#aee596", "#ffdd99", "#98c3ff", "#dcbcff", "#8fe3de", "#ffffff"]
INK, SHEET = "#d5d8de", "#14171c"


def browser_program():
    for name in ["chromium", "chromium-browser", "google-chrome"]:
        found = shutil.which(name)
        if found:
            return found
    sys.exit("no chromium on the PATH (apt-get install chromium)")


def indexed(number):
    if number < 16:
        return (COLOURS + BRIGHT)[number]
    if number > 231:
        level = 8 + 10 * (number - 232)
        return f"rgb({level},{level},{level})"
    steps = [0, 95, 135, 175, 215, 255]
    number -= 16
    return f"rgb({steps[number // 36]},{steps[number // 6 % 6]},{steps[number % 6]})"


class Style:
    """What escapes have asked for so far."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.ink, self.sheet = None, None
        self.is_bold = self.is_dim = self.is_reversed = self.is_underlined = False

    def take(self, codes):
        codes = list(codes) or [0]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in (1, 2, 4, 7):
                name = {1: "is_bold", 2: "is_dim", 4: "is_underlined", 7: "is_reversed"}[code]
                setattr(self, name, True)
            elif code == 22:
                self.is_bold = self.is_dim = False
            elif code == 24:
                self.is_underlined = False
            elif code == 27:
                self.is_reversed = False
            elif code in (38, 48):
                colour = self.colour(codes)
                if code == 38:
                    self.ink = colour
                else:
                    self.sheet = colour
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.sheet = None
            elif 30 <= code <= 37:
                self.ink = COLOURS[code - 30]
            elif 40 <= code <= 47:
                self.sheet = COLOURS[code - 40]
            elif 90 <= code <= 97:
                self.ink = BRIGHT[code - 90]
            elif 100 <= code <= 107:
                self.sheet = BRIGHT[code - 100]

    @staticmethod
    def colour(codes):
        kind = codes.pop(0)
        if kind == 5:
            return indexed(codes.pop(0))
        red, green, blue = codes.pop(0), codes.pop(0), codes.pop(0)
        return f"rgb({red},{green},{blue})"

    def css(self):
        ink, sheet = self.ink or INK, self.sheet or "transparent"
        if self.is_reversed:
            ink, sheet = (self.sheet or SHEET), (self.ink or INK)
        css = f"color:{ink};background:{sheet};"
        css += "font-weight:700;" if self.is_bold else ""
        css += "opacity:.65;" if self.is_dim else ""
        return css + ("text-decoration:underline;" if self.is_underlined else "")


def cells(text):
    """The text of a terminal as HTML."""
    out, style = [], Style()
    for piece in re.split(r"(\x1b\[[0-9;:]*m|\x1b[()][A-Z0-9]|\x0e|\x0f)", text):
        if piece.startswith("\x1b["):
            style.take(int(code or 0) for code in re.split("[;:]", piece[2:-1]))
        elif piece and not piece[0] in "\x1b\x0e\x0f":
            out.append(f'<span style="{style.css()}">{html.escape(piece)}</span>')
    return "".join(out)


# A picture's width, height, at most 256 colours, and the number of each point's colour. Colours that are seldom, those
# between a letter and its ground, become the nearest of the frequent ones.
REDUCE = """async (png) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const { width, height } = picture, canvas = new OffscreenCanvas(width, height), context = canvas.getContext('2d');
    context.drawImage(picture, 0, 0);
    const { data } = context.getImageData(0, 0, width, height), points = new Uint32Array(width * height);
    const counts = new Map();
    for (let i = 0; i < points.length; i += 1) {
        points[i] = (data[4 * i] << 16) | (data[4 * i + 1] << 8) | data[4 * i + 2];
        counts.set(points[i], (counts.get(points[i]) ?? 0) + 1);
    }
    const kept = [...counts].sort(([, one], [, other]) => other - one).slice(0, 256).map(([colour]) => colour);
    const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
    const palette = kept.map(parts), numbers = new Map(kept.map((colour, number) => [colour, number]));
    const nearest = (colour) => {
        const [r, g, b] = parts(colour);
        const far = palette.map(([x, y, z]) => 2 * (x - r) ** 2 + 4 * (y - g) ** 2 + 3 * (z - b) ** 2);
        return far.indexOf(Math.min(...far));
    };
    for (const colour of counts.keys()) if (!numbers.has(colour)) numbers.set(colour, nearest(colour));
    let text = '';
    for (const point of points) text += String.fromCharCode(numbers.get(point));
    return { width, height, palette: palette.flat(), points: btoa(text) };
}"""


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write(browser, png, path):
    """Writes a picture with 256 colours, which is a third of one with all of them."""
    page = browser.new_page()
    reduced = page.evaluate(REDUCE, base64.b64encode(png).decode())
    page.close()
    width, height, points = reduced["width"], reduced["height"], base64.b64decode(reduced["points"])
    rows = b"".join(b"\0" + points[row * width : (row + 1) * width] for row in range(height))
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n")
        out.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)))
        out.write(chunk(b"PLTE", bytes(reduced["palette"])))
        out.write(chunk(b"IDAT", zlib.compress(rows, 9)))
        out.write(chunk(b"IEND", b""))


def terminal(browser, file, pictures):
    with open(file, encoding="utf-8") as source:
        inside = cells(source.read().rstrip("\n"))
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(
        f'<body style="margin:0"><pre id="screen" style="display:inline-block;margin:0;padding:14px 18px;'
        f"background:{SHEET};color:{INK};font:14px/1.2 'DejaVu Sans Mono',monospace\">{inside}</pre></body>"
    )
    write(browser, page.locator("#screen").screenshot(), os.path.join(pictures, "terminal.png"))


def both(browser, address, name, wait, pictures):
    """The page's upper part, light and dark."""
    for scheme in ["light", "dark"]:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address, wait_until="commit")
        wait(page)
        write(browser, page.screenshot(), os.path.join(pictures, f"{name}-{scheme}.png"))
        page.close()


def dashboard(browser, address, pictures):
    def wait(page):
        page.wait_for_selector("#flow svg")
        page.wait_for_selector(".live-chart canvas")

    both(browser, address, "dashboard", wait, pictures)


def report(browser, address, pictures):
    both(browser, address, "report", lambda page: page.wait_for_selector("h1"), pictures)


def main():
    what, where, pictures = sys.argv[1:4]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program(), args=["--no-sandbox"])
        {"terminal": terminal, "dashboard": dashboard, "report": report}[what](browser, where, pictures)
        browser.close()


main()

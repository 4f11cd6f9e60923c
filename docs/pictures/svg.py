"""What the pictures are made of. Python 3, standard library alone; the same calls give the same bytes."""
from xml.sax.saxutils import escape

WIDTH = 640  # at 400 px, text of 16 is still 10 px high
SIZE = 16
INK, GREY, PALE = "#222222", "#6a6a6a", "#c5ccd5"
GREEN, BLUE, RED = "#1a7f37", "#0b5fb0", "#b3261e"
FILL = {GREEN: "#dff3e4", BLUE: "#e3edf9", RED: "#fbe4e2", GREY: "#eeeeee", INK: "#ffffff"}
HEADS = {INK: "ink", GREY: "grey", GREEN: "green", BLUE: "blue", RED: "red"}


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Picture:
    made_by = "docs/pictures/draw.py"

    def __init__(self, name, height, title, description):
        self.name, self.height, self.title, self.description = name, height, title, description
        self.parts = []

    def add(self, element, content=None, **attributes):
        said = "".join(f' {key.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else number(value)}"'
                       for key, value in attributes.items() if value is not None)
        self.parts.append(f"<{element}{said}/>" if content is None else f"<{element}{said}>{content}</{element}>")

    def text(self, x, y, lines, color=INK, anchor=None, bold=False, mono=False, size=SIZE, halo=False):
        """`lines` are separated by newlines. y is the base line of the first one."""
        for i, line in enumerate(lines.split("\n")):
            self.add("text", escape(line), x=x, y=y + 20 * i, fill=color, text_anchor=anchor,
                     font_weight="bold" if bold else None, font_size=size if size != SIZE else None,
                     font_family="monospace" if mono else None,
                     stroke="#ffffff" if halo else None, stroke_width=5 if halo else None,
                     stroke_linejoin="round" if halo else None, paint_order="stroke" if halo else None)

    def box(self, x, y, width, height, color, dashed=False, radius=6, width_of_line=1.5):
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, fill="#ffffff" if dashed else FILL[color],
                 stroke=color, stroke_width=width_of_line, stroke_dasharray="5 4" if dashed else None)

    def line(self, x1, y1, x2, y2, color=GREY, width=1.5, dashed=False, arrow=False, both=False):
        self.path(f"M{number(x1)} {number(y1)} L{number(x2)} {number(y2)}", color, width, dashed, arrow, both)

    def path(self, d, color=INK, width=1.5, dashed=False, arrow=True, both=False):
        head = f"url(#{HEADS[color]})" if arrow or both else None
        self.add("path", d=d, fill="none", stroke=color, stroke_width=width,
                 stroke_dasharray="5 4" if dashed else None, marker_end=head,
                 marker_start=head if both else None)

    def cross(self, x, y, color=RED, size=7):
        self.add("path", d=f"M{number(x - size)} {number(y - size)} L{number(x + size)} {number(y + size)} "
                 f"M{number(x - size)} {number(y + size)} L{number(x + size)} {number(y - size)}",
                 fill="none", stroke=color, stroke_width=3)

    def dot(self, x, y, color=INK):
        self.add("circle", cx=x, cy=y, r=4, fill=color)

    def __str__(self):
        heads = "\n".join(
            f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="13" markerHeight="13" '
            f'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 1 L10 5 L0 9 Z" fill="{color}"/></marker>'
            for color, name in HEADS.items())
        hatch = ('<pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
                 '<rect width="8" height="8" fill="#ffffff"/><rect width="3" height="8" fill="#9a9a9a"/></pattern>')
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
            f'viewBox="0 0 {WIDTH} {self.height}" role="img" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{SIZE}">',
            f"<!-- made by {self.made_by} -->",
            f"<title>{escape(self.title)}</title>", f"<desc>{escape(self.description)}</desc>",
            f"<defs>\n{heads}\n{hatch}\n</defs>",
            f'<rect x="0.75" y="0.75" width="{WIDTH - 1.5}" height="{self.height - 1.5}" rx="8" fill="#ffffff" '
            f'stroke="{PALE}" stroke-width="1.5"/>',
            *self.parts, "</svg>", ""])


class Lanes(Picture):
    """Time runs down. Each lane is a bar with notes to the right of it; arrows run between the bars."""
    TOP, BAR = 62, 14

    def __init__(self, name, height, title, description, lanes):
        super().__init__(name, height, title, description)
        self.x = {}
        step = (WIDTH - 32) / len(lanes)
        for i, (key, heading) in enumerate(lanes.items()):
            self.x[key] = round(20 + i * step)
            self.text(self.x[key], 34, heading, bold=True)
            self.line(self.x[key] + self.BAR / 2, self.TOP - 14, self.x[key] + self.BAR / 2, height - 16, PALE)

    def bar(self, lane, begin, end, color, hatched=False):
        self.add("rect", x=self.x[lane], y=begin, width=self.BAR, height=end - begin, rx=3,
                 fill="url(#hatch)" if hatched else FILL[color], stroke=color, stroke_width=1.5)

    def note(self, lane, y, lines, color=INK, bold=False):
        self.text(self.x[lane] + self.BAR + 9, y + 5, lines, color, bold=bold, halo=True)

    def message(self, begin, y, end, to, color=INK, label="", at=0.5, arrives=True, reach=0):
        """From one lane at y to another at `to` (and `reach` into it), with its label above the arrow."""
        x1, x2 = self.x[begin] + self.BAR, self.x[end] + reach
        if x2 < x1:
            x1, x2 = self.x[begin], self.x[end] + self.BAR
        if not arrives:
            x2, to = x1 + (x2 - x1) * 0.6, y + (to - y) * 0.6
        self.line(x1, y, x2, to, color, 2, arrow=True)
        if not arrives:
            self.cross(x2 + 4, to)
        if label:
            self.text(x1 + (x2 - x1) * at, y + (to - y) * at - 7, label, color, "middle", halo=True)

    def tick(self, lane, y, color=RED):
        self.line(self.x[lane] - 6, y, self.x[lane] + self.BAR + 6, y, color, 3)

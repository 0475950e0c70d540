"""The report as one HTML file: headline, charts with their tables, light and dark, no network."""

from __future__ import annotations

import html
from pathlib import Path

from . import charts, summary, table
from .charts import engine
from .page_parts import (
    device_name,
    facts,
    headline,
    in_results,
    in_rows,
    left_out,
    legend,
    means_of,
    parts_legend,
    rows_table,
    small_table,
)
from .text import digits, rate, seconds, times

__all__ = ["render", "write"]

HERE = Path(__file__).resolve().parent
WIDE, NARROW = 960, 358
e = html.escape


def write(report, folder):
    """index.html, and speedup.svg, the first chart by itself, into a folder."""
    (folder / "index.html").write_text(render(report), encoding="utf-8")
    rows = main_rows(report)
    if rows:
        (folder / "speedup.svg").write_text(alone(report, rows), encoding="utf-8")


def read(name):
    return (HERE / name).read_text(encoding="utf-8")


def alone(report, rows):
    """The first chart by itself with heading and legend, in the colours of both themes."""
    sheet = read("page.css")
    colours = sheet[: sheet.index(':root[data-theme="dark"]')]
    style = f"<style>{colours}{read('chart.css')} svg {{ background: var(--paper); }}</style>"
    means = " and ".join(f"{times(h['mean'])} on the {device_name(h['engine'])}"
                         for h in means_of(report))  # fmt: skip
    machine = report["machine"]["processor"]
    if report["machine"]["gpu"]:
        machine += f", {report['machine']['gpu']['name']}"
    heading = (
        f"Speed-up over NumPy: {means} (geometric mean)" if means else MAIN,
        f"{machine}, {report['date'][:10]}; the largest size of each operation, log scale",
    )
    return pad(charts.speedups(rows, MAIN, WIDE, heading, in_rows(report, rows), style))


def pad(drawn, by=20):
    """The drawing with a margin."""
    start = drawn.index('viewBox="') + 9
    box = drawn[start : drawn.index('"', start)]
    _, _, w, h = map(int, box.split())
    wide, high = w + 2 * by, h + 2 * by
    new = f'viewBox="{-by} {-by} {wide} {high}" width="{wide}" height="{high}"'
    old = f'viewBox="{box}" width="{w}" height="{h}"'
    return drawn.replace(old, new, 1)


# ---- pieces --------------------------------------------------------------------------------------
MAIN = "Speed-up over NumPy, the largest size of each operation"


def both(draw):
    """A chart for wide screens and for phones."""
    return f'<div class="wide">{draw(WIDE)}</div><div class="narrow">{draw(NARROW)}</div>'


def figure(draw, caption, legend=""):
    return f"<figure><figcaption>{e(caption)}</figcaption>{legend}{both(draw)}</figure>"


def main_rows(report):
    """The largest size that was timed, of each operation that counts."""
    rows = {}
    for suite in report["suites"]:
        cases = [c for c in suite["cases"] if c["headline"]]
        for row in charts.speed_rows(suite, cases):
            operation, size, values = row
            if not any(name.startswith("numbus") for name, _, _ in values):
                continue
            name = suite["title"] if operation.endswith("steps") else operation
            name = f"{name} {suite['name']}" if operation == "square" else name
            if suite["name"] == "mandelbrot":
                name = "Mandelbrot, masks"
            rows[suite["name"], name] = (name.replace("square matmul", "matmul, squares"), size,
                                         values)  # fmt: skip
    return list(rows.values())


# ---- sections ------------------------------------------------------------------------------------
def main_section(report):
    rows = main_rows(report)
    if not rows:
        return ""
    names = in_rows(report, rows)
    heads = ["Operation", "Size", *[engine(name).label for name in names]]
    cells = []
    for operation, size, values in rows:
        at = {name: value for name, value, _ in values}
        cells.append([operation, size, *[times(at[n]) if n in at else "" for n in names]])
    figure_ = figure(lambda w: charts.speedups(rows, MAIN, w),
                     "Times NumPy on this machine, on a logarithmic scale: right of the line is "
                     "faster.", legend(names))  # fmt: skip
    shown = f'<section id="speed-up"><h2>{e(MAIN)}</h2>{figure_}'
    return shown + small_table("speed-ups over NumPy", heads, cells) + "</section>"


def suite_charts(suite, report):
    """The charts of one suite."""
    if "curves" in suite:
        return crossover_charts(suite)
    if any(c["link"] for c in suite["cases"]):
        if any("median" in r for c in suite["cases"] for r in c["results"].values()):
            return figure(lambda w: charts.transfers(suite, report, suite["title"], w),
                          "Bytes per second that arrive; on the way there and back, both count.",
                          legend(in_results(report, suite)))  # fmt: skip
        return ""
    rows = charts.speed_rows(suite, suite["cases"])
    if suite["name"] == "latency":
        if any("median" in r for c in suite["cases"] for r in c["results"].values()):
            return figure(lambda w: charts.latencies(suite, suite["title"], w),
                          "Time of one call, on a logarithmic scale.")  # fmt: skip
        return ""
    if not rows:
        return ""
    return figure(lambda w: charts.speedups(rows, suite["title"], w),
                  "Times NumPy, on a logarithmic scale.",
                  legend(in_rows(report, rows)))  # fmt: skip


def crossover_charts(suite):
    out = []
    labels = {name: engine(name).label for c in suite["cases"] for name in c["results"]}
    for plain, copies in suite["curves"]:
        if not any(summary.curve(suite, plain, name) for name in labels):
            continue
        out.append(f"<h3>{e(plain[0].upper() + plain[1:])}</h3>")
        for found in suite["crossings"]:
            if found["curve"] == plain:
                kind = "" if found["kind"] in ("crossing", "always") else " none"
                text = table.crossing_text(found, labels)
                out.append(f'<p class="callout{kind}">{e(text[0].upper() + text[1:])}.</p>')
        title = f"{plain[0].upper() + plain[1:]}: time over problem size"
        out.append(figure(lambda w, p=plain, c=copies, t=title: charts.curves(suite, p, c, t, w),
                          "Both axes are logarithmic; lower is faster."))  # fmt: skip
        parts = suite.get("parts", {}).get(plain)
        if parts and charts.part_rows(suite, plain, parts)[0]:
            rows, size = charts.part_rows(suite, plain, parts)
            title = f"The parts of the {plain} at n = {size}"
            out.append(figure(
                lambda w, p=plain, q=parts, t=title: charts.breakdown(suite, p, q, t, w),
                f"{title}: each timed by itself, as a share of their sum; whole: the three in one "
                "expression.", parts_legend(parts)))  # fmt: skip
            out.append(small_table(title.lower(), ["Library", *parts, "whole"], [
                [labels[name], *map(seconds, found), seconds(total)] for name, found, total in rows
            ]))  # fmt: skip
    return "".join(out)


def roofline_section(report):
    points = charts.roof_points(report)
    if not points or report["options"]["quick"]:
        return ""
    title = "Roofline: what is reached of what this machine can do"
    drawn = figure(lambda w: charts.roofline(report, title, w),
                   "Slope: the measured bandwidth of memory; flat: the measured rate of matrix "
                   "products. Points above a slope work in caches.")  # fmt: skip
    rows = [[("GPU" if d == "cuda" else "CPU") + ", " + tip.split(":")[0], digits(f, 2),
             rate(reached, "FLOP/s")] for d, _, f, reached, tip in points]  # fmt: skip
    heads = ["Workload", "Operations per byte", "Reached"]
    return (f'<section id="roofline"><h2>{title}</h2>{drawn}'
            f'{small_table("roofline", heads, rows)}</section>')  # fmt: skip


def compared_section(report):
    c = report.get("compared")
    if not c:
        return ""
    out = [f'<section id="changes"><h2>What changed since {e(c["date"][:10])}</h2>']
    if not c["same_machine"]:
        out.append(f'<p class="callout none">That run was on another machine or system: '
                   f"{e(c['machine'])}.</p>")  # fmt: skip
    out.append(f"<p>{len(c['changes'])} changed, {c['unchanged']} unchanged: the medians differ by "
               "more than 5 % and the quartiles do not overlap.</p>")  # fmt: skip
    rows = []
    for x in c["changes"]:
        name = "".join(f"<td>{e(text)}</td>" for text in
                       (x["suite"], x["case"], engine(x["engine"]).label))  # fmt: skip
        name += f'<td class="n">{seconds(x["before"])}</td>'
        if x["now"] is None:
            rows.append(f'<tr>{name}<td class="say bad" colspan="2">{e(x["reason"])}</td></tr>')
            continue
        ratio = x["speedup"]
        word = (f'<td class="n good">{times(ratio)} faster</td>' if ratio > 1 else
                f'<td class="n bad">{times(1 / ratio)} slower</td>')  # fmt: skip
        rows.append(f'<tr>{name}<td class="n">{seconds(x["now"])}</td>{word}</tr>')
    if rows:
        out.append(
            '<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Suite</th>'
            '<th scope="col">Case</th><th scope="col">Library</th>'
            '<th scope="col" class="n">Before</th><th scope="col" class="n">Now</th>'
            f'<th scope="col"></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        )
    return "".join(out) + "</section>"


def render(report):
    """The whole page."""
    sections = [main_section(report), compared_section(report)]
    links = [("speed-up", "Speed-up")] if sections[0] else []
    for suite in report["suites"]:
        drawn = suite_charts(suite, report) + left_out(suite) + rows_table(suite, report)
        sections.append(f'<section id="{e(suite["name"])}"><h2>{e(suite["title"])}</h2>'
                        f"<p>{e(suite['about'])}</p>{drawn}</section>")  # fmt: skip
        links.append((suite["name"], suite["title"]))
    roof = roofline_section(report)
    if roof:
        links.append(("roofline", "Roofline"))
    nav = "".join(f'<a href="#{e(k)}">{e(v)}</a>' for k, v in links)
    buttons = "".join(f'<button type="button" value="{v}" aria-pressed="false">{v.capitalize()}'
                      "</button>" for v in ("auto", "light", "dark"))  # fmt: skip
    gone = [f"{x['label']}: {x['unavailable']}" for x in report["engines"] if "unavailable" in x]
    footer = "Medians; the tables have quartiles. The first call compiles and is in no median. "
    footer += "Every result was compared with NumPy’s before it was timed. "
    footer += f"Left out: {'; '.join(gone)}. " if gone else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Numbus benchmark, {e(report["machine"]["processor"])}</title>
<link rel="icon" href="data:,">
<style>{read("page.css")}{read("chart.css")}</style>
</head>
<body>
<div class="page">
<header>
<div class="bar-top"><div class="mark-name">Numbus <span>benchmark</span></div>
<div class="theme" role="group" aria-label="Colours">{buttons}</div></div>
{headline(report)}
{facts(report)}
<nav aria-label="Sections">{nav}</nav>
</header>
<main>{"".join(sections)}{roof}</main>
<footer>{e(footer)}Made by <code>python -m numbus bench</code>.</footer>
</div>
<script>{read("page.js")}</script>
</body>
</html>
"""

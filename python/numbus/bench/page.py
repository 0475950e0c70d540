"""The report as one HTML file: headline, charts with their tables, light and dark, no network."""

from __future__ import annotations

import html
from pathlib import Path

from . import charts, summary, table
from .charts import engine
from .svg import Svg
from .text import bytes_text, digits, rate, seconds, times

__all__ = ["render", "write"]

HERE = Path(__file__).resolve().parent
WIDE, NARROW = 960, 358
e = html.escape


def write(report, folder):
    """index.html, and speedup.svg, the first chart by itself, into a folder."""
    (folder / "index.html").write_text(render(report), encoding="utf-8")
    rows = main_rows(report)
    if rows:
        (folder / "speedup.svg").write_text(alone(rows), encoding="utf-8")


def read(name):
    return (HERE / name).read_text(encoding="utf-8")


def alone(rows):
    """The first chart with the colours of both themes, for a README."""
    sheet = read("page.css")
    colours = sheet[: sheet.index(':root[data-theme="dark"]')]
    style = f"<style>{colours}{read('chart.css')} svg {{ background: var(--paper); }}</style>"
    return pad(charts.speedups(rows, MAIN, WIDE, style))


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


def legend(names):
    """The bars and marks of engines."""
    items = []
    for name in names:
        svg = Svg(14)
        if name.startswith("numbus"):
            svg.bar(0, 3, 14, 9, charts.look(name))
        else:
            svg.mark(7, 7.5, charts.shape(name), charts.look(name))
        icon = f'<svg width="14" height="15" aria-hidden="true">{"".join(svg.parts)}</svg>'
        items.append(f"<li>{icon}{e(engine(name).label)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def parts_legend(parts):
    """The colours of parts."""
    swatch = '<svg width="14" height="15" aria-hidden="true"><rect y="3" width="14" height="9" '
    items = [f'<li>{swatch}rx="2" class="part{k}"/></svg>{e(part)}</li>'
             for k, part in enumerate(parts)]  # fmt: skip
    return f'<ul class="legend">{"".join(items)}</ul>'


def in_rows(report, rows):
    """The engines that rows of speed-ups have, in the order of the run."""
    there = {name for _, _, row in rows for name, _, _ in row}
    return [x["id"] for x in report["engines"] if x["id"] in there]


def in_results(report, suite):
    """The engines that were timed in a suite."""
    there = {name for c in suite["cases"] for name, r in c["results"].items() if "median" in r}
    return [x["id"] for x in report["engines"] if x["id"] in there]


def main_rows(report):
    """The largest size that was timed, of each operation that counts."""
    rows = {}
    for suite in report["suites"]:
        cases = [c for c in suite["cases"] if c["headline"]]
        for row in charts.speed_rows(report, suite, cases):
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


def headline(report):
    """The one sentence, and what it covers."""
    found = sorted(report["headline"], key=lambda h: h["engine"], reverse=True)
    if not found:
        why = "NumPy was not measured, so that there is nothing to compare with."
        return f"<h1>Numbus on this machine</h1><p class=lead>{why}</p>"
    said = []
    for h in found:
        device = "gpu" if h["engine"].endswith("cuda") else "cpu"
        said.append(f'<span class="{device} number">{times(h["mean"])} NumPy</span> on the '
                    f"{device.upper()}")  # fmt: skip
    out = [f"<h1>On this machine Numbus is {' and '.join(said)}</h1>"]
    h = found[0]
    suites = ", ".join(s.lower().replace("mandelbrot engines", "Mandelbrot") for s in h["suites"])
    about = (
        f"The geometric mean of {h['workloads']} workloads: {suites}. Unchanged NumPy code, "
        "results checked against NumPy’s, data on the device, compilation apart. From "
        f"{times(h['least']['value'])} ({h['least']['case']}) to {times(h['most']['value'])} "
        f"({h['most']['case']})"
    )
    if len(found) > 1:
        about += " on the GPU"
    about += "."
    if h["of"] > h["workloads"]:
        about += f" {h['of'] - h['workloads']} of {h['of']} had no result to compare."
    slower = [f"{x['slower']} on the {x['engine'][7:].replace('cuda', 'gpu').upper()}"
              for x in found if x["slower"]]  # fmt: skip
    if slower:
        about += f" NumPy is the faster one in {' and in '.join(slower)}."
    out.append(f'<p class="lead">{e(about)}</p>')
    if report["options"]["quick"]:
        out.append('<p class="callout none">A quick run: sizes are far too small to say anything '
                   "about this machine.</p>")  # fmt: skip
    return "".join(out)


def facts(report):
    """The machine, in a grid."""
    m, rows = report["machine"], []
    rows.append(("Processor", f"{m['processor']}, {m['processors']} logical cores"))
    if m["memory_bytes"]:
        rows.append(("Memory", bytes_text(m["memory_bytes"])))
    if m["gpu"]:
        gpu = m["gpu"]
        rows.append(("GPU", f"{gpu['name']}, {bytes_text(gpu['memory_bytes'])}, driver "
                     f"{gpu['driver']}"))  # fmt: skip
    for device, l in report["limits"].items():
        if "copy_bytes_per_s" not in l:
            continue
        text = f"copy {rate(l['copy_bytes_per_s'], 'B/s')}; products "
        text += ", ".join(f"{rate(f, 'FLOP/s')} in {d}" for d, f in l["flops"].items())
        if l["link_bytes_per_s"]:
            link = l["link_bytes_per_s"]
            text += f"; link {rate(link['to'], 'B/s')} there, {rate(link['from'], 'B/s')} back"
        rows.append((f"Measured limits, {'GPU' if device == 'cuda' else 'CPU'}", text))
    versions = dict.fromkeys(
        f"{x['label'].removesuffix(' CPU').removesuffix(' GPU')} {x['version']}"
        for x in report["engines"] if x["version"])  # fmt: skip
    rows.append(("Versions", f"Python {m['python']}, {', '.join(versions)}"))
    rows.append(("Measured", f"{report['date'][:16].replace('T', ' ')}, in "
                 f"{report['seconds']:.0f} s"))  # fmt: skip
    cells = "".join(f"<div><dt>{e(k)}</dt><dd>{e(v)}</dd></div>" for k, v in rows)
    return f'<dl class="facts">{cells}</dl>'


def rows_table(suite, report):
    """Every result of a suite."""
    heads = ("Operation", "Size", "Library", "Median", "Quartiles", "First call", "Speed-up",
             "Of limit")  # fmt: skip
    out = []
    for case in suite["cases"]:
        first = True
        for name in case["results"]:
            cells = table.line_of(case, suite, report, engine(name))
            row = f"<td>{e(case['operation']) if first else ''}</td>"
            row += f"<td>{e(case['size']) if first else ''}</td><td>{e(cells[0])}</td>"
            if len(cells) == 2:
                bad = ' bad"' if "wrong" in case["results"][name] else '"'
                row += f'<td class="say{bad} colspan="5">{e(cells[1])}</td>'
            else:
                row += "".join(f'<td class="n">{e(c)}</td>' for c in cells[1:])
            out.append(f'<tr class="first">{row}</tr>' if first else f"<tr>{row}</tr>")
            first = False
    head = "".join(f'<th scope="col"{" class=n" if k > 2 else ""}>{h}</th>'
                   for k, h in enumerate(heads))  # fmt: skip
    return (
        f"<details><summary>Table: {e(suite['title'].lower())}, every result</summary>"
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(out)}</tbody></table></div></details>"
    )


def small_table(title, heads, rows):
    """A table beside a chart."""
    head = "".join(f'<th scope="col"{" class=n" if k else ""}>{e(h)}</th>'
                   for k, h in enumerate(heads))  # fmt: skip
    body = "".join(
        "<tr>" + "".join(f"<td{' class=n' if k else ''}>{e(c)}</td>" for k, c in enumerate(row))
        for row in rows
    )
    return (
        f"<details><summary>Table: {e(title)}</summary><div class=scroll tabindex=0><table><thead>"
        f"<tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


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
    rows = charts.speed_rows(report, suite, suite["cases"])
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
                kind = "" if found["kind"] == "crossing" else " none"
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
        drawn = suite_charts(suite, report) + rows_table(suite, report)
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

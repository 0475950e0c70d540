"""Parts of the report's page that are text: headline, machine, legends, tables."""

from __future__ import annotations

import html

from . import charts, table
from .charts import engine
from .svg import Svg
from .text import bytes_text, rate, times

e = html.escape


def means_of(report):
    """The means over the workloads, the GPU's first."""
    return sorted(report["headline"], key=lambda h: h["engine"], reverse=True)


def device_name(name):
    """GPU or CPU, of an engine."""
    return "GPU" if engine(name).device == "cuda" else "CPU"


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


def headline(report):
    """The one sentence, and what it covers."""
    found = means_of(report)
    if not found:
        why = "NumPy was not measured, so that there is nothing to compare with."
        return f"<h1>Numbus on this machine</h1><p class=lead>{why}</p>"
    said = []
    for h in found:
        device = device_name(h["engine"])
        said.append(f'<span class="{device.lower()} number">{times(h["mean"])} NumPy</span> on the '
                    f"{device}")  # fmt: skip
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
    ours = [f"{times(x['beside']['mean'])} on the {device_name(x['engine'])}"
            for x in found if x["beside"]]  # fmt: skip
    if ours:
        about += f" Beside the fastest other library of each workload: {' and '.join(ours)}."
    if h["of"] > h["workloads"]:
        about += f" {h['of'] - h['workloads']} of {h['of']} had no result to compare."
    slower = [f"{x['slower']} on the {device_name(x['engine'])}"
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


def left_out(suite):
    """What has no time in a suite, and why: wrong results, errors, what was skipped."""
    found = {"wrong": {}, "error": {}, "skipped": {}}
    for case in suite["cases"]:
        name = case["operation"] if case["operation"] == case["size"] else (
            f"{case['operation']}, {case['size']}")  # fmt: skip
        for kind, reasons in found.items():
            here = {}
            for engine_, r in case["results"].items():
                if "median" not in r and kind in r:
                    here.setdefault(r[kind], []).append(engine(engine_).label)
            for reason, labels in here.items():
                who = "" if len(labels) == len(case["results"]) > 1 else f" ({', '.join(labels)})"
                reasons.setdefault(reason, []).append(name + who)
    titles = {"wrong": "Wrong, and not timed", "error": "Failed", "skipped": "Left out"}
    return "".join(
        f'<p class="callout {"wrong" if kind != "skipped" else "none"}">{titles[kind]}: '
        f"{e('; '.join(names))}: {e(reason)}.</p>"
        for kind, reasons in found.items() for reason, names in reasons.items()
    )  # fmt: skip

"""The control flow of compiled functions, as their LLVM IR or assembly says it."""

import collections
import re


class ControlFlow(collections.namedtuple("ControlFlow", "blocks")):
    """{function: {block: the names of the blocks that may run after it}}."""

    @property
    def dot(self):
        """The graph in Graphviz's language."""
        lines = ["digraph {"]
        for function, blocks in self.blocks.items():
            for block, targets in blocks.items():
                here = f"{function}:{block}"
                lines.append(f'  "{here}";')
                lines += [f'  "{here}" -> "{function}:{t}";' for t in targets]
        return "\n".join([*lines, "}"])

    def display(self, filename=None, format="pdf", view=False):
        """Draws the graph by the package graphviz, which has to be there."""
        try:
            import graphviz
        except ImportError as error:
            raise RuntimeError(
                "[display] the package graphviz draws graphs; got none; expected it, or .dot"
            ) from error
        return graphviz.Source(self.dot).render(filename, format=format, view=view)


def of_llvm(text):
    """Of LLVM IR in text form: its blocks by label, the first one of each function as `entry`."""
    functions, blocks, targets = {}, None, None
    for line in text.splitlines():
        if found := re.match(r"define .*?@(\"[^\"]*\"|[\w.$-]+)\(", line):
            blocks = functions[found[1].strip('"')] = {}
            targets = None
        elif line.startswith("}"):
            blocks = None
        elif blocks is not None:
            if found := re.match(r"(\"[^\"]*\"|[\w.$-]+):", line):
                targets = blocks[found[1].strip('"')] = []
            elif line.strip():
                if targets is None:
                    targets = blocks["entry"] = []
                targets += [t.strip('"') for t in _labels(line) if t.strip('"') not in targets]
    return ControlFlow(functions)


def _labels(line):
    return re.findall(r"label %(\"[^\"]*\"|[\w.$-]+)", line)


def of_assembly(text):
    """Of assembly of x86-64 or AArch64: a block begins at a label and after each jump."""
    functions, blocks, targets, name = {}, None, None, None
    local = re.compile(r"\.L\w+")
    for line in text.splitlines():
        if found := re.match(r"([^\s#:]+):", line):
            label = found[1].strip('"')
            if local.match(label):
                if not label.startswith(".LBB") or blocks is None:
                    continue
                if targets is not None and label not in targets:
                    targets.append(label)  # it runs on into this one
            else:
                blocks, label, count = functions.setdefault(label, {}), "entry", 0
            name, targets = label, blocks.setdefault(label, [])
            count = 0
            continue
        words = line.split()
        if blocks is None or not words or words[0].startswith((".", "#", "//")):
            continue
        if targets is None:  # after a jump that may be not taken
            continue
        kind = words[0]
        where = [w.rstrip(",") for w in words[1:] if local.match(w)]
        if re.fullmatch(r"j[a-z]+|b(\.[a-z]+)?|cbn?z|tbn?z", kind):
            targets += [w for w in where if w not in targets]
            if kind in ("jmp", "b"):
                targets = None
            else:
                count += 1
                after = f"{name}+{count}"
                targets.append(after)
                targets = blocks.setdefault(after, [])
        elif re.match(r"ret|ud2|brk", kind):
            targets = None
    return ControlFlow({f: b for f, b in functions.items() if any(b.values()) or len(b) == 1})

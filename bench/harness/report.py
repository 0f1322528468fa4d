"""The figures as JSON, as a table in a document, and against older figures."""

import json

import machine

BEGIN, END = "<!-- figures: written by tools/dev/bench -->", "<!-- end of figures -->"


def load(path):
    """Figures of an earlier run; ValueError with a sentence if the file is none."""
    try:
        with open(path) as file:
            data = json.load(file)
    except (OSError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("rows"), dict) or not data["rows"]:
        raise ValueError(f"{path}: holds no rows of tools/dev/bench")
    return data


def save(path, data):
    with open(path, "w") as out:
        json.dump(data, out, indent=1, ensure_ascii=False)
        out.write("\n")


def amount(value, unit):
    """Three digits, in a unit that suits."""
    if unit == "µs":
        for limit, scale, name in ((1e3, 1, "µs"), (1e6, 1e3, "ms")):
            if value < limit:
                return f"{value / scale:.3g} {name}"
        return f"{value / 1e6:.3g} s"
    if unit == "s":
        return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"
    return f"{value:.0f} {unit}" if value >= 10 else f"{value:.3g} {unit}"


def spread(figures, unit):
    if figures is None:
        return "–"
    text = amount(figures["median"], unit)
    if len(figures["rounds"]) == 1:
        return text
    return f"{text} ({amount(figures['low'], unit)} – {amount(figures['high'], unit)})"


def ratio(figures):
    if figures is None:
        return "–"
    text = f"{figures['median']:.2f}×" if figures["median"] < 10 else f"{figures['median']:.0f}×"
    if len(figures["rounds"]) == 1:
        return text
    return f"{text} ({figures['low']:.2f} – {figures['high']:.2f})"


def aim(row):
    parts = []
    if row.get("aim"):
        parts.append(f"{row['aim']:g}×")
    if row.get("aim_share"):
        parts.append(f"{row['aim_share']:g} of the limit")
    if row.get("aim_value"):
        parts.append(f"≤ {amount(row['aim_value'], row['unit'])}")
    if row.get("aim_text"):
        parts.append(row["aim_text"])
    return ", ".join(parts) or "–"


def limit(row):
    if "limit" not in row:
        return "–"
    text = f"{row['limit']['name']} {amount(row['limit']['median'], row['unit'])}"
    if not row.get("share"):
        return text
    return f"{text}: {row['share']['median']:.2f} of it" if row["share"]["median"] < 1 else f"{text}: not a limit, ours takes less"


def taken(row):
    return f"{row['date']}, load {row['load']:g}" + (f", {row['commit']}" if row.get("commit") else "")


def line(name, row):
    if row.get("skipped"):
        return f"| `{name}` | {row['what']} | skipped: {row['skipped']} | – | – | {aim(row)} | – | – | {taken(row)} |"
    met = {True: "yes", False: "**no**", None: "–"}[row["met"]]
    ours = row["our_error"] if row.get("our_error") else spread(row["ours"], row["unit"])
    theirs = row["their_error"] if row.get("their_error") else spread(row["theirs"], row["unit"])
    cells = [f"`{name}`", row["what"], ours, theirs, ratio(row["ratio"]), aim(row), met, limit(row), taken(row)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def detail_lines(rows):
    for name, row in rows.items():
        if row.get("values_error"):
            yield f"- `{name}`, **other values**: {row['values_error']}"
        for key, value in row.get("detail", {}).items():
            if isinstance(value, dict) and all(isinstance(v, dict) for v in value.values()):
                for inner, columns in value.items():
                    yield f"- `{name}`, {inner} {key}: " + ", ".join(f"{k} {v}" for k, v in columns.items())
            elif isinstance(value, dict):
                yield f"- `{name}`, {key}: " + ", ".join(f"{k} {v}" for k, v in value.items())
            else:
                yield f"- `{name}`, {key}: {value}"


def verdict(data):
    met = [row["met"] for row in data["rows"].values() if row["met"] is not None]
    return f"{met.count(True)} of {len(met)} aims met on {data.get('gpu') or machine.name(data['machine'])}"


def compared(rows):
    """How far the values were from the other side's."""
    distances = [row["values"]["apart"] / row["values"]["tolerance"] for row in rows.values() if row.get("values")]
    if not distances:
        return ""
    wrong = sum("values_error" in row for row in rows.values())
    return (f" Fetched values were compared with TensorFlow's in {len(distances)} rows: " +
            (f"in {wrong} they are others." if wrong else f"{max(distances):.2g} of a row's tolerance apart at most."))


def table(data):
    other = data["peer"].split()[0] if data["peer"] else "TensorFlow"
    board = f"{data['gpu']}; " if data.get("gpu") else ""
    lines = [f"Machine: {board}{machine.sentence(data['machine'])}. Peer: {data['peer'] or 'none'}. Medians (lowest – highest round); the ratio is {other}'s time by "
             f"ours, round by round. {verdict(data)}.{compared(data['rows'])}", "",
             f"| row | work | troupe | {other} | ratio | aim | met | the machine at best | taken |", "|---|---|---|---|---|---|---|---|---|"]
    lines += [line(name, row) for name, row in data["rows"].items()]
    details = list(detail_lines(data["rows"]))
    return "\n".join(lines + (["", "Details:", "", *details] if details else []))


def write_document(path, data):
    with open(path) as file:
        before, rest = file.read().split(BEGIN)
    with open(path, "w") as out:
        out.write(before + BEGIN + "\n\n" + table(data) + "\n\n" + END + rest.split(END)[1])


def allowance(old, new):
    """How far a ratio may fall: half the wider of both spreads, but no less than a twentieth, within which a quiet machine's runs differ, and no more
    than a quarter, so that a row of wide spread is guarded too."""
    half = max(figures["high"] - figures["low"] for figures in (old, new)) / 2
    return min(max(half, 0.05 * old["median"]), 0.25 * old["median"])


def slower(old, new, allowed=2.25):
    """Sentences about the rows of `new` whose quickest step takes more of the machine's yardstick than `allowed` times what it took in `old`: the best step
    of thousands beside the best that the machine does, which a busy machine disturbs little. The factor is what differs between machines of one
    name, such as how quick a TCP round trip is beside the waking of a thread."""
    for name, row in new["rows"].items():
        before, now = old["rows"].get(name, {}).get("quickest"), row.get("quickest")
        if not before or not now or before["is"] != now["is"]:
            continue
        was, is_now = before["micros"] / before["yardstick"], now["micros"] / now["yardstick"]
        if is_now > allowed * was:
            yield (f"{name}: the quickest step takes {amount(now['micros'], 'µs')}, {is_now:.3g} times the yardstick ({now['is']}, "
                   f"{amount(now['yardstick'], 'µs')}); it took {was:.3g} times that, {allowed:g} times as much is allowed")


def worse(old, new):
    """Sentences about the rows of `new` that do worse than in `old`: a ratio that fell by more than its spread, an aim that is not met any more."""
    for name, row in new["rows"].items():
        before = old["rows"].get(name)
        if not before:
            continue
        if before.get("ratio") and not row.get("ratio"):
            yield f"{name}: had the ratio {before['ratio']['median']:.2f}, has none now: {row.get('our_error') or row.get('their_error')}"
            continue
        if before.get("ratio"):
            fall, allowed = before["ratio"]["median"] - row["ratio"]["median"], allowance(before["ratio"], row["ratio"])
            if fall > allowed:
                yield (f"{name}: the ratio fell from {before['ratio']['median']:.2f} to {row['ratio']['median']:.2f}, by {fall:.2f}; its spread allows "
                       f"{allowed:.2f}")
                continue
        if before["met"] and row["met"] is False:
            yield f"{name}: met its aim, {aim(row)}, and does not now"

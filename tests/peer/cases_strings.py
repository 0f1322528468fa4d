"""Random cases of ops on texts."""

import base64

import numpy as np

from case import Case
from makers import INDEX, ints, op, text, texts
from values import INTS, REALS

LETTERS = "ab c.,1-\t\n\u00e4\u00df\u65e5\U0001f600"
REGEXES = ["a", "a*", "[ab]+", "(a)(b)", "^a", "b$", "", ".", "\\d+", "[^a]", "(?i)A", "a|b", "\\pL", "(", "a{2}", "\\b", "x?", "(?P<n>a)", "[[:alpha:]]", "\\"]
REWRITES = ["", "x", "\\0", "\\1", "<\\0>", "\\2\\1", "\\", "\\9"]


def random_text(r, most=8):
    return "".join(r.choice(LETTERS) for _ in range(r.integer(0, most)))


def random_bytes(r, most=8):
    if r.chance(0.1):
        return bytes(r.np.randint(0, 256, r.integer(0, most)).astype(np.uint8))
    return random_text(r, most).encode()


def tensor_of(r, shape, make):
    out = np.empty(int(np.prod(shape)), object)
    for i in range(out.size):
        value = make()
        out[i] = value.encode() if isinstance(value, str) else value
    return "string", out.reshape(shape)


def small_shape(r):
    return [min(d, 4) for d in r.shape(0, 2)]


@op("StringLower StringUpper")
def case_of(r, name):
    return Case(name, [tensor_of(r, small_shape(r), lambda: random_bytes(r))], {"encoding": r.choice(["", "", "utf-8", "UTF-8", "ascii"])})


@op("StringStrip StringToHashBucketFast StringToHashBucket")
def plain(r, name):
    attrs = {"num_buckets": r.choice([1, 7, 1000, 2**62]) if r.chance(0.97) else 0} if "Hash" in name else {}
    return Case(name, [tensor_of(r, small_shape(r), lambda: random_bytes(r, 40))], attrs)


@op("StringToHashBucketStrong")
def strong(r, name):
    return Case(name, [tensor_of(r, small_shape(r), lambda: random_bytes(r, 40))],
                {"num_buckets": r.choice([1, 7, 1000]), "key": [r.integer(0, 9), r.integer(-5, 5)] if r.chance(0.97) else [1]})


@op("StringLength")
def length(r, name):
    return Case(name, [tensor_of(r, small_shape(r), lambda: random_bytes(r))], {"unit": r.choice(["BYTE", "UTF8_CHAR"])})


@op("StringToNumber")
def to_number(r, name):
    words = ["1", "-1", "0", "+3", " 4", "5 ", "1.5", "1e3", "-2.5E-3", "inf", "-inf", "nan", "infinity", "2147483648", "9223372036854775808", "0x10", "1_000",
             "", " ", "abc", "1a", "1e400", "1e-400", ".5", "5.", "1f", "1.5.2", "1,000", "-9223372036854775808", "4294967296", "-0", "NaN", "1e39"]
    dtype = r.dtype(name, "out_type", only=["float", "double", "int32", "int64", "uint32", "uint64"])
    good = [w for w in words if w.strip().lstrip("+-").isdigit() and len(w) < 8]
    return Case(name, [tensor_of(r, small_shape(r), lambda: r.choice(words) if r.chance(0.3) else r.choice(good))], {"out_type": dtype})


@op("AsString")
def as_string(r, name):
    dtype = r.dtype(name, only=INTS + REALS + ["complex64", "complex128", "bool", "string"])
    attrs = {}
    if r.chance(0.5):
        attrs["precision"] = r.choice([-1, 0, 2, 5, 20])
    if r.chance(0.3):
        attrs["scientific"] = True
    if r.chance(0.2):
        attrs["shortest"] = True
    if r.chance(0.3):
        attrs["width"] = r.choice([-1, 0, 3, 12])
    if r.chance(0.3):
        attrs["fill"] = r.choice(["", "0", " ", "+", "-", "#", "00", "x"])
    return Case(name, [r.values(dtype, small_shape(r), r.choice(["small", "any"]))], attrs)


@op("StringJoin")
def join(r, name):
    shape = small_shape(r)
    shapes = [shape if r.chance(0.7) else [] for _ in range(r.integer(1, 4))]
    if r.chance(0.04):
        shapes.append(small_shape(r))
    return Case(name, [tensor_of(r, s, lambda: random_bytes(r, 4)) for s in shapes], {"separator": r.choice(["", ",", " - "])})


@op("ReduceJoin")
def reduce_join(r, name):
    shape = [min(d, 4) for d in r.shape(0, 3)]
    axes = [i if r.chance(0.5) else i - len(shape) for i in range(len(shape)) if r.chance(0.5)]
    r.np.shuffle(axes)
    if r.chance(0.05):
        axes.append(r.axis(len(shape)))
    return Case(name, [tensor_of(r, shape, lambda: random_bytes(r, 3)), ints(axes if len(axes) != 1 or r.chance(0.5) else axes[0])],
                {"keep_dims": r.chance(0.5), "separator": r.choice(["", ",", "--"])})


@op("UnsortedSegmentJoin")
def segment_join(r, name):
    shape = [min(d, 4) for d in r.shape(1, 2)]
    ids, count = shape[:r.integer(1, len(shape))], r.integer(0, 4)
    where = np.array([r.integer(-1 if r.chance(0.1) else 0, max(count - 1, 0)) if r.chance(0.99) else count for _ in range(int(np.prod(ids)))], int)
    return Case(name, [tensor_of(r, shape, lambda: random_bytes(r, 3)), ints(where.reshape(ids), r.choice(INDEX)), ints(count, r.choice(INDEX))],
                {"separator": r.choice(["", ","])})


@op("RegexFullMatch StaticRegexFullMatch")
def full_match(r, name):
    pattern = r.choice(REGEXES)
    x = tensor_of(r, small_shape(r), lambda: r.choice(["", "a", "b", "ab", "aa", "A", "12", "abab", " "]))
    if name.startswith("Static"):
        return Case(name, [x], {"pattern": pattern})
    return Case(name, [x, text(pattern) if r.chance(0.97) else texts([pattern])])


@op("RegexReplace StaticRegexReplace")
def replace(r, name):
    pattern, rewrite = r.choice(REGEXES), r.choice(REWRITES)
    x = tensor_of(r, small_shape(r), lambda: r.choice(["", "a", "b", "ab", "aa", "A", "12", "abab", "a1b2", "\u00e4a"]))
    attrs = {"replace_global": r.chance(0.6)}
    if name.startswith("Static"):
        return Case(name, [x], dict(attrs, pattern=pattern, rewrite=rewrite))
    return Case(name, [x, text(pattern), text(rewrite)], attrs)


@op("StringSplit StringSplitV2")
def split(r, name):
    words = ["", "a", "a b", " a  b ", "a,b", ",,a", "a,b;c", "x", "ab--cd--", "\u00e4 \u65e5", "a\tb\nc"]
    x = tensor_of(r, [r.integer(0, 3)] if r.chance(0.97) else [], lambda: r.choice(words))
    sep = r.choice(["", " ", ",", "--", ",;", "a", "\u00e4"])
    if name == "StringSplit":
        return Case(name, [x, text(sep)], {"skip_empty": r.chance(0.5)})
    return Case(name, [x, text(sep)], {"maxsplit": r.choice([-1, 0, 1, 2])})


@op("Substr")
def substr(r, name):
    shape, index, unit = small_shape(r), r.choice(INDEX), r.choice(["BYTE", "UTF8_CHAR"])
    x = tensor_of(r, shape, lambda: "".join(r.choice("ab\u00e4\u65e5") for _ in range(r.integer(3, 7))))
    where = [] if r.chance(0.4) else shape if r.chance(0.7) else r.broadcastable(shape)
    most = 3 if r.chance(0.85) else 9
    pos = np.array([r.integer(-most if r.chance(0.3) else 0, most) for _ in range(int(np.prod(where)))], int).reshape(where)
    size = np.array([r.integer(0, 4) if r.chance(0.97) else -1 for _ in range(int(np.prod(where)))], int).reshape(where)
    return Case(name, [x, ints(pos, index), ints(size if r.chance(0.98) else size.reshape(-1), index)], {"unit": unit})


@op("EncodeBase64")
def encode_base64(r, name):
    return Case(name, [tensor_of(r, small_shape(r), lambda: random_bytes(r))], {"pad": r.chance(0.5)})


@op("DecodeBase64")
def decode_base64(r, name):
    def one():
        code = base64.urlsafe_b64encode(random_bytes(r))
        if r.chance(0.5):
            code = code.rstrip(b"=")
        if r.chance(0.05):
            code = r.choice([code + b"=", code[:-1], b"+" + code, b"\xff" + code, b"=" + code])
        return code
    return Case(name, [tensor_of(r, small_shape(r), one)])


@op("StringFormat")
def string_format(r, name):
    types = [r.choice(["float", "int32", "string", "bool", "double", "uint8", "half"]) for _ in range(r.integer(0, 3))]
    inputs = [r.values(t, r.shape(0, 3), "small") for t in types]
    placeholder = r.choice(["{}", "%t%", "_"])
    template = "x".join([placeholder] * len(types)) if r.chance(0.9) else placeholder
    return Case(name, inputs, {"T": types, "template": "(" + template + ")", "placeholder": placeholder, "summarize": r.choice([3, 1, -1, 10])})


ENCODINGS = ["UTF-8", "UTF-16-BE", "UTF-32-BE"]


def encoded(r):
    value = random_text(r, 6)
    return lambda e: value.encode({"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}[e])


def unicode_text(r, encoding):
    value = encoded(r)(encoding)
    if r.chance(0.15):
        at = r.integer(0, len(value))
        value = value[:at] + r.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\xd8\x00"]) + value[at:]
    return value


def unicode_attrs(r):
    return {"errors": r.choice(["replace", "ignore", "strict"]), "replacement_char": r.choice([65533, 32, 63]) if r.chance(0.97) else r.choice([-1, 1 << 21]),
            "replace_control_characters": r.chance(0.2)}


@op("UnicodeTranscode")
def transcode(r, name):
    source = r.choice(ENCODINGS)
    attrs = dict(unicode_attrs(r), input_encoding=source if r.chance(0.95) else r.choice(["latin1", "UTF-16", "US-ASCII", "nonsense"]),
                 output_encoding=r.choice(ENCODINGS))
    return Case(name, [tensor_of(r, small_shape(r), lambda: unicode_text(r, source))], attrs)


@op("UnicodeDecode UnicodeDecodeWithOffsets")
def unicode_decode(r, name):
    source = r.choice(ENCODINGS)
    attrs = dict(unicode_attrs(r), input_encoding=source if r.chance(0.97) else "latin1")
    if r.chance(0.3):
        attrs["Tsplits"] = r.choice(INDEX)
    return Case(name, [tensor_of(r, small_shape(r), lambda: unicode_text(r, source))], attrs)


@op("UnicodeEncode")
def unicode_encode(r, name):
    from cases_reductions import splits
    rows, total = splits(r, r.integer(0, 3))
    values = [r.choice([97, 228, 0x65E5, 0x1F600]) if r.chance(0.93) else r.choice([0xD800, 0x110000, -1, 0xFFFE, 0]) for _ in range(total)]
    kind = r.choice(INDEX)
    return Case(name, [ints(values), ints(rows, kind)],
                {"errors": r.choice(["replace", "ignore", "strict"]), "output_encoding": r.choice(ENCODINGS), "replacement_char": r.choice([65533, 32]),
                 "Tsplits": kind})


@op("UnicodeScript")
def script(r, name):
    return Case(name, [ints([r.choice([97, 228, 0x65E5, 0x1F600, 0x3B1, 0x430, -1, 0x110000]) for _ in range(r.integer(0, 5))])])


@op("DecodeRaw")
def decode_raw(r, name):
    dtype = r.dtype(name, "out_type", only=INTS + REALS + ["complex64", "complex128", "bool"])
    size = np.dtype(r.tensor(dtype, []).dtype).itemsize * r.integer(0, 3)
    if dtype == "bool":
        return Case(name, [tensor_of(r, small_shape(r), lambda: bytes(r.np.randint(0, 2, size).astype(np.uint8)))], {"out_type": dtype})
    uneven = r.chance(0.05)
    return Case(name, [tensor_of(r, small_shape(r), lambda: bytes(r.np.randint(0, 100, size + (uneven and r.integer(0, 3))).astype(np.uint8)))],
                {"out_type": dtype, "little_endian": r.chance(0.7)}, ulps=0)


@op("DecodePaddedRaw")
def decode_padded(r, name):
    dtype = r.dtype(name, "out_type", only=INTS + FLOAT_TYPES)
    item = np.dtype(r.tensor(dtype, []).dtype).itemsize
    fixed = item * r.integer(1, 3) + (1 if r.chance(0.04) else 0)
    return Case(name, [tensor_of(r, small_shape(r), lambda: bytes(r.np.randint(0, 100, r.integer(0, 12)).astype(np.uint8))), ints(fixed if r.chance(0.97) else 0)],
                {"out_type": dtype, "little_endian": r.chance(0.7)}, ulps=0)


FLOAT_TYPES = ["half", "float", "double"]


@op("DecodeCSV")
def decode_csv(r, name):
    types = [r.choice(["float", "double", "int32", "int64", "string"]) for _ in range(r.integer(1, 4))]
    delimiter = r.choice([",", ",", ";", "\t"])

    def field(kind):
        if r.chance(0.15):
            return ""
        if r.chance(0.04):
            return r.choice(["x", '"', 'a"b', '"a', "1.5.1", "99999999999999999999", '"a"b'])
        if kind == "string":
            return r.choice(["a", '"a,b"', '"say ""x"""', "b c", '"line\nbreak"', " pad "])
        return r.choice(["1", "-2", "0", "37"] + (["1.5", "1e3", " 2"] if kind in ("float", "double") else []))

    def record():
        count = len(types) + (r.choice([-1, 1]) if r.chance(0.03) else 0)
        return delimiter.join(field(t) for t in (types + types)[:count])
    defaults = []
    for t in types:
        shape = [1] if r.chance(0.6) else [0] if r.chance(0.7) else []
        defaults.append(r.values(t, shape, "small"))
    attrs = {"OUT_TYPE": types, "field_delim": delimiter, "use_quote_delim": r.chance(0.8), "na_value": r.choice(["", "", "a", "0"])}
    if r.chance(0.1):
        attrs["select_cols"] = sorted(r.choice([0, 1, 2]) for _ in types)
    return Case(name, [tensor_of(r, small_shape(r), record)] + defaults, attrs)


@op("StringNGrams")
def n_grams(r, name):
    from cases_reductions import splits
    rows, total = splits(r, r.integer(0, 3))
    kind = r.choice(INDEX)
    return Case(name, [tensor_of(r, [total], lambda: random_text(r, 3)), ints(rows, kind)],
                {"separator": r.choice([" ", "", "|"]), "ngram_widths": [r.integer(1, 3) for _ in range(r.integer(1, 2))], "left_pad": r.choice(["", "<"]),
                 "right_pad": r.choice(["", ">"]), "pad_width": r.choice([-1, 0, 1, 2]), "preserve_short_sequences": r.chance(0.5)})



"""Dtypes by the names that op definitions give them, and the literals of core/tensor/literal.hpp."""

import ml_dtypes
import numpy as np

# Name: number in tensorflow.DataType, NumPy's dtype, name in literals.
DTYPES = {
    "float": (1, np.float32, "f32"), "double": (2, np.float64, "f64"), "int32": (3, np.int32, "i32"), "uint8": (4, np.uint8, "u8"),
    "int16": (5, np.int16, "i16"), "int8": (6, np.int8, "i8"), "string": (7, object, "str"), "complex64": (8, np.complex64, "c64"),
    "int64": (9, np.int64, "i64"), "bool": (10, np.bool_, "bool"), "qint8": (11, np.int8, "qi8"), "quint8": (12, np.uint8, "qu8"),
    "qint32": (13, np.int32, "qi32"), "bfloat16": (14, ml_dtypes.bfloat16, "bf16"), "qint16": (15, np.int16, "qi16"),
    "quint16": (16, np.uint16, "qu16"), "uint16": (17, np.uint16, "u16"), "complex128": (18, np.complex128, "c128"),
    "half": (19, np.float16, "f16"), "resource": (20, object, "resource"), "variant": (21, object, "variant"), "uint32": (22, np.uint32, "u32"),
    "uint64": (23, np.uint64, "u64"),
    "float8_e5m2": (24, ml_dtypes.float8_e5m2, "f8e5m2"), "float8_e4m3fn": (25, ml_dtypes.float8_e4m3fn, "f8e4m3fn"),
    "int4": (29, ml_dtypes.int4, "i4"), "uint4": (30, ml_dtypes.uint4, "u4"),
}
NUMBERS = {number: name for name, (number, _, _) in DTYPES.items()}
ALIASES = {"float32": "float", "float64": "double", "float16": "half"}
LITERAL_NAMES = {literal: name for name, (_, _, literal) in DTYPES.items()}
FLOATING = ("half", "bfloat16", "float", "double")
COMPLEX = ("complex64", "complex128")
REAL_OF = {"complex64": "float", "complex128": "double"}
OBJECTS = ("string", "resource", "variant")


def numpy_type(name):
    return np.dtype(DTYPES[ALIASES.get(name, name)][1])


def number_of(name):
    return DTYPES[ALIASES.get(name, name)][0]


def is_inexact(name):
    return name in FLOATING or name in COMPLEX


def quoted(text):
    """A string of bytes as literals have it."""
    out = ""
    for byte in text:
        char = chr(byte)
        if char in '"\\':
            out += "\\" + char
        elif 32 <= byte < 127:
            out += char
        else:
            out += f"\\x{byte:02x}"
    return f'"{out}"'


def element(name, value):
    if name == "string":
        return quoted(value if isinstance(value, bytes) else str(value).encode())
    if name == "bool":
        return "true" if value else "false"
    if name in COMPLEX:
        real = REAL_OF[name]
        return f"({element(real, numpy_type(real).type(value.real))},{element(real, numpy_type(real).type(value.imag))})"
    if name in FLOATING or name.startswith("float8"):
        value = float(value) if name != "float" else np.float32(value)
        text = str(value)
        return text[:-2] if text.endswith(".0") else text
    return str(int(value))


def literal(name, array, most=None):
    """"f32[2,3] 1 2 3 4 5 6"; one element stands for all where all are alike."""
    array = np.asarray(array)
    head = f"{DTYPES[ALIASES.get(name, name)][2]}[{','.join(map(str, array.shape))}]"
    words = [element(name, value) for value in array.ravel()[:most]]
    if len(words) > 1 and len(set(words)) == 1 and (most is None or array.size <= most):
        words = words[:1]
    more = ["…"] if most is not None and array.size > most else []
    return " ".join([head] + words + more)


def parse_literal(text):
    """Name and array of a literal; texts hold no blanks, complex numbers are (re,im)."""
    head, _, rest = text.strip().partition("]")
    short, _, dims = head.partition("[")
    name = LITERAL_NAMES[short]
    shape = [int(d) for d in dims.split(",") if d]
    words = rest.split()
    if name == "bool":
        values = [word == "true" for word in words]
    elif name == "string":
        values = [word.strip('"').encode().decode("unicode_escape").encode("latin-1") for word in words]
    elif name in COMPLEX:
        values = [complex(*map(float, word.strip("()").split(","))) for word in words]
    elif name in FLOATING:
        values = [float(word) for word in words]
    else:
        values = [int(word) for word in words]
    array = np.empty(len(values), numpy_type(name))
    for i, value in enumerate(values):
        array[i] = value
    return name, np.full(shape, array[0], array.dtype) if len(values) == 1 else array.reshape(shape)

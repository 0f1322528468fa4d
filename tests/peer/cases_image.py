"""Random cases of ops on images."""

import numpy as np

from case import Case, Program
from makers import INDEX, ints, op, real
from tensors import numpy_type
from values import FLOATS, REALS


def image(r, channels=3, low=1, high=8):
    return [r.integer(low, high), r.integer(low, high), channels]


@op("AdjustHue AdjustSaturation AdjustContrastv2")
def adjust(r, name):
    dtype = r.dtype(name, only=["half", "float"])
    shape = r.shape(0, 1) + image(r) if r.chance(0.97) else r.shape()
    return Case(name, [r.values(dtype, shape, "unit"), real(r.np.randn() if r.chance(0.8) else r.choice([0, 1, -1, 3]))], ulps=64 if dtype == "float" else 8,
                scale="max")


@op("AdjustContrast")
def adjust_contrast(r, name):
    dtype = r.dtype(name, only=["uint8", "int8", "int16", "int32", "int64", "float", "double"])
    return Case(name, [r.values(dtype, r.shape(0, 1) + image(r), "positive"), real(r.np.rand() * 2), real(0 if r.chance(0.5) else -5), real(255)], ulps=32,
                scale="max")


@op("RGBToHSV HSVToRGB")
def colors(r, name):
    dtype = r.dtype(name)
    return Case(name, [r.values(dtype, r.shape(0, 2) + [3 if r.chance(0.97) else 2], r.choice(["unit", "small"]))], ulps=32, scale="one")


RESIZES = "ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea"


def resize_attrs(r, name):
    attrs = {"align_corners": r.chance(0.3)}
    if name not in ("ResizeArea",):
        attrs["half_pixel_centers"] = not attrs["align_corners"] and r.chance(0.5)
    return attrs


@op(RESIZES)
def resize(r, name):
    dtype = r.dtype(name)
    x = [r.integer(1, 2)] + image(r, r.integer(1, 4))
    size = [r.integer(1, 10), r.integer(1, 10)]
    if r.chance(0.03):
        size[0] = r.choice([0, -1])
    kind = "positive" if dtype.startswith(("u", "int")) else "small"
    return Case(name, [r.values(dtype, x if r.chance(0.97) else r.shape(), kind), ints(size if r.chance(0.98) else [3])], resize_attrs(r, name),
                ulps=256 if dtype != "half" else 8, scale="max")


@op("ResizeBilinearGrad ResizeBicubicGrad")
def resize_grad(r, name):
    dtype = r.dtype(name)
    original = [r.integer(1, 2)] + image(r, r.integer(1, 3))
    grad = [original[0], r.integer(1, 9), r.integer(1, 9), original[3]]
    ulps = {"half": 16, "bfloat16": 16, "float": 512, "double": 2.0**31}[dtype]  # weights are floats
    return Case(name, [r.values("float", grad, "small"), r.values(dtype, original, "small")], resize_attrs(r, name), ulps=ulps, scale="max")


@op("ResizeNearestNeighborGrad")
def nearest_grad(r, name):
    dtype, c = r.dtype(name), r.integer(1, 3)
    kind = "positive" if dtype.startswith(("u", "int")) else "small"
    return Case(name, [r.values(dtype, [r.integer(1, 2)] + image(r, c), kind), ints([r.integer(1, 9), r.integer(1, 9)])], resize_attrs(r, name), ulps=64,
                scale="max")


@op("ScaleAndTranslate")
def scale_translate(r, name):
    dtype = r.dtype(name, only=FLOATS + REALS[:1] + ["uint8", "int32"])
    return Case(name, [r.values(dtype, [1] + image(r, r.integer(1, 3)), "positive"), ints([r.integer(1, 8), r.integer(1, 8)]),
                       ("float", np.array([r.np.rand() + 0.5, r.np.rand() + 0.5], np.float32)), r.values("float", [2], "small")],
                {"kernel_type": r.choice(["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"]),
                 "antialias": r.chance(0.5)}, ulps=512, scale="max")


@op("ScaleAndTranslateGrad")
def scale_translate_grad(r, name):
    c = r.integer(1, 3)
    return Case(name, [r.values("float", [1] + image(r, c), "small"), r.values("float", [1] + image(r, c), "small"),
                       ("float", np.array([r.np.rand() + 0.5, r.np.rand() + 0.5], np.float32)), r.values("float", [2], "small")],
                {"kernel_type": r.choice(["lanczos3", "gaussian", "box", "triangle"]), "antialias": r.chance(0.5)}, ulps=512, scale="max")


def boxes(r, n, dtype="float"):
    low = r.np.rand(n, 2) * 0.6
    high = low + r.np.rand(n, 2) * 0.6
    out = np.concatenate([low, high], axis=1)
    if n and r.chance(0.2):
        out[0] = out[0][[2, 3, 0, 1]]
    return out.astype(numpy_type(dtype))


@op("CropAndResize")
def crop(r, name):
    dtype, batch, n = r.dtype(name), r.integer(1, 2), r.integer(0, 3)
    which = r.np.randint(0, batch, n)
    if n and r.chance(0.04):
        which[0] = r.choice([-1, batch])
    kind = "positive" if dtype.startswith(("u", "int")) else "small"
    return Case(name, [r.values(dtype, [batch] + image(r, r.integer(1, 3)), kind), ("float", boxes(r, n)), ints(which),
                       ints([r.integer(1, 5), r.integer(1, 5)] if r.chance(0.97) else [0, 1])],
                {"method": r.choice(["bilinear", "nearest"]), "extrapolation_value": r.choice([0.0, -1.0])}, ulps=128, scale="max")


@op("CropAndResizeGradImage")
def crop_grad_image(r, name):
    dtype, batch, n, c = r.dtype(name), r.integer(1, 2), r.integer(0, 3), r.integer(1, 3)
    return Case(name, [r.values("float", [n] + image(r, c), "small"), ("float", boxes(r, n)), ints(r.np.randint(0, batch, n)), ints([batch] + image(r, c))],
                {"T": dtype, "method": r.choice(["bilinear", "nearest"])}, ulps=256 if dtype != "half" else 8, scale="max")


@op("CropAndResizeGradBoxes")
def crop_grad_boxes(r, name):
    dtype, batch, n, c = r.dtype(name), r.integer(1, 2), r.integer(0, 3), r.integer(1, 3)
    kind = "positive" if dtype.startswith(("u", "int")) else "small"
    return Case(name, [r.values("float", [n] + image(r, c), "small"), r.values(dtype, [batch] + image(r, c), kind), ("float", boxes(r, n)),
                       ints(r.np.randint(0, batch, n))], ulps=4096, scale="max")


@op("DrawBoundingBoxes DrawBoundingBoxesV2")
def draw(r, name):
    dtype, batch, n = r.dtype(name), r.integer(1, 2), r.integer(0, 3)
    more = [r.values("float", [r.integer(1, 2), 4], "unit")] if name.endswith("V2") else []
    return Case(name, [r.values(dtype, [batch] + image(r, r.choice([1, 3, 4])), "unit"), ("float", boxes(r, batch * n).reshape(batch, n, 4))] + more)


@op("ExtractGlimpse ExtractGlimpseV2")
def glimpse(r, name):
    batch = r.integer(1, 2)
    attrs = {"centered": r.chance(0.5), "normalized": r.chance(0.5), "noise": r.choice(["zero", "zero", "other"])}
    return Case(name, [r.values("float", [batch] + image(r, r.integer(1, 3), 3), "small"), ints([r.integer(1, 5), r.integer(1, 5)]),
                       r.values("float", [batch, 2], "small")], attrs, ulps=16)


def suppression(r, n):
    return [("float", boxes(r, n)), r.values("float", [n if r.chance(0.98) else n + 1], "unit"), ints(r.integer(0, 5) if r.chance(0.97) else -1)]


def threshold(r):
    return real(r.choice([0.0, 0.3, 0.5, 1.0]) if r.chance(0.97) else r.choice([-0.1, 1.1]))


@op("NonMaxSuppression")
def nms(r, name):
    return Case(name, suppression(r, r.integer(0, 6)), {"iou_threshold": r.choice([0.0, 0.3, 0.5])})


@op("NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5")
def nms_more(r, name):
    inputs = suppression(r, r.integer(0, 6)) + [threshold(r)]
    if name[-1] in "345":
        inputs.append(real(r.choice([0.0, 0.4, -1.0])))
    if name[-1] == "5":
        inputs.append(real(r.choice([0.0, 0.5, 1.0])))
    dtype = r.choice(["float", "float", "half"])
    inputs = [(dtype, x.astype(numpy_type(dtype))) if kind == "float" else (kind, x) for kind, x in inputs]
    attrs = {"T": dtype, "T_threshold": dtype} if name[-1] != "5" else {"T": dtype}
    if name[-1] in "45":
        attrs["pad_to_max_output_size"] = r.chance(0.5)
    return Case(name, inputs, attrs, ulps=16)


@op("NonMaxSuppressionWithOverlaps")
def nms_overlaps(r, name):
    n = r.integer(0, 5)
    return Case(name, [r.values("float", [n, n], "unit"), r.values("float", [n if r.chance(0.97) else n + 1], "unit"), ints(r.integer(0, 4)), threshold(r),
                       real(r.choice([0.0, 0.4]))])


@op("CombinedNonMaxSuppression")
def nms_combined(r, name):
    batch, n, q, c = r.integer(1, 2), r.integer(1, 4), r.integer(1, 2), 0
    c = q if q > 1 else r.integer(1, 3)
    return Case(name, [("float", np.tile(boxes(r, batch * n).reshape(batch, n, 1, 4), [1, 1, q, 1])), r.values("float", [batch, n, c], "unit"),
                       ints(r.integer(1, 4)), ints(r.integer(1, 6)), threshold(r), real(r.choice([0.0, 0.4]))],
                {"pad_per_class": r.chance(0.5), "clip_boxes": r.chance(0.5)}, ulps=16)


@op("ImageProjectiveTransformV2 ImageProjectiveTransformV3")
def projective(r, name):
    dtype = r.dtype(name, "dtype", only=["uint8", "int32", "int64", "half", "bfloat16", "float", "double"])
    batch = r.integer(1, 2)
    n = batch if r.chance(0.5) else 1
    transform = np.tile(np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32), [n, 1]) + (r.np.randn(n, 8) * [0.3, 0.3, 1, 0.3, 0.3, 1, 0.01, 0.01]).astype(np.float32)
    inputs = [r.values(dtype, [batch] + image(r, r.integer(1, 2)), "positive"), ("float", transform), ints([r.integer(1, 6), r.integer(1, 6)])]
    attrs = {"interpolation": r.choice(["NEAREST", "BILINEAR"]), "fill_mode": r.choice(["CONSTANT", "REFLECT", "WRAP", "NEAREST"])}
    if name.endswith("V3"):
        inputs.append(real(r.choice([0.0, 2.5])))
    return Case(name, inputs, attrs, ulps=1024 if dtype in ("float", "double") else 16, scale="max")


@op("SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox")
def distorted(r, name):
    dtype = r.choice(["int32", "int64", "uint8", "int16"])
    n = r.integer(0, 2)
    inputs = [ints([r.integer(5, 40), r.integer(5, 40), 3], dtype), ("float", boxes(r, n).clip(0, 1).reshape(1, n, 4))]
    attrs = {"aspect_ratio_range": [0.75, 1.33], "area_range": r.choice([[0.05, 1.0], [0.3, 0.6]]), "max_attempts": r.integer(1, 100),
             "use_image_if_no_bounding_boxes": n == 0 or r.chance(0.5)}
    if name == "SampleDistortedBoundingBox":
        attrs["min_object_covered"] = r.choice([0.1, 0.5])
    else:
        inputs.append(real(r.choice([0.1, 0.5])))
    if name.startswith("Stateless"):
        inputs.append(ints([r.integer(0, 99), r.integer(0, 99)]))
    else:
        attrs.update(seed=r.integer(1, 99), seed2=r.integer(0, 99))
    return Case(name, inputs, attrs, ulps=16)


def pixels(r, channels, dtype="uint8"):
    return dtype, r.np.randint(0, 256, image(r, channels)).astype(numpy_type(dtype))


@op("EncodePng DecodePng")
def png(r, name):
    """What is encoded is decoded: the files need not be alike, the pictures do."""
    dtype = r.choice(["uint8", "uint8", "uint16"])
    p = Program(name, ulps=0)
    data = p.node("EncodePng", [p.value(*pixels(r, r.choice([1, 2, 3, 4]) if r.chance(0.97) else 5, dtype))], {"compression": r.choice([-1, 0, 5, 9])})
    p.fetch(p.node("DecodePng", [data], {"channels": r.choice([0, 0, 1, 3, 4]), "dtype": r.choice(["uint8", "uint8", "uint16"])}))
    return p


@op("EncodeJpeg DecodeJpeg ExtractJpegShape DecodeAndCropJpeg EncodeJpegVariableQuality")
def jpeg(r, name):
    p = Program(name, ulps=0)
    x = p.value(*pixels(r, r.choice([1, 3])))
    quality = r.choice([95, 50, 100, 1])
    data = p.node("EncodeJpegVariableQuality", [x, p.ints(quality)]) if name == "EncodeJpegVariableQuality" else p.node("EncodeJpeg", [x], {"quality": quality})
    if name == "ExtractJpegShape":
        p.fetch(p.node(name, [data], {"output_type": r.choice(INDEX)}))
        return p
    attrs = {"channels": r.choice([0, 0, 1, 3]), "ratio": r.choice([1, 1, 2, 4, 8]), "fancy_upscaling": r.chance(0.5), "dct_method": r.choice(["", "INTEGER_ACCURATE"])}
    if name == "DecodeAndCropJpeg":
        p.fetch(p.node(name, [data, p.ints([0, 0, 1, 1])], attrs))
    else:
        p.fetch(p.node("DecodeJpeg", [data], attrs))
    return p


@op("DecodeImage")
def decode_image(r, name):
    p = Program(name, ulps=0)
    data = p.node(r.choice(["EncodePng", "EncodePng", "EncodeJpeg"]), [p.value(*pixels(r, r.choice([1, 3])))])
    p.fetch(p.node(name, [data], {"channels": r.choice([0, 1, 3]), "dtype": r.choice(["uint8", "uint16", "float"]), "expand_animations": r.chance(0.5)}))
    return p


@op("DecodeBmp")
def bmp(r, name):
    height, width, channels = r.integer(1, 4), r.integer(1, 4), r.choice([3, 4, 1])
    row = (width * channels + 3) // 4 * 4
    body = bytes(r.np.randint(0, 256, row * height).astype(np.uint8))
    head = b"BM" + (54 + len(body)).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little") + \
        width.to_bytes(4, "little") + (height if r.chance(0.8) else (1 << 32) - height).to_bytes(4, "little") + (1).to_bytes(2, "little") + \
        (8 * channels).to_bytes(2, "little") + bytes(24)
    data = head + body
    if r.chance(0.05):
        data = data[:r.integer(0, len(data))]
    array = np.empty([], object)
    array[()] = data
    return Case(name, [("string", array)], {"channels": r.choice([0, channels, 3])}, ulps=0)

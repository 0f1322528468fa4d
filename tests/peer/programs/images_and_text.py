"""Ops of input pipelines: pictures read, resized and changed, texts taken apart, sparse and ragged tensors, parsed messages."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show

tf.disable_v2_behavior()
random = np.random.RandomState(8)
picture = random.randint(256, size=(9, 7, 3)).astype(np.uint8)


def pictures():
    x = tf.constant(picture)
    decoded = tf.image.decode_png(tf.image.encode_png(x))
    real = tf.image.convert_image_dtype(decoded, tf.float32)
    yield "png", decoded
    yield "any", tf.image.decode_image(tf.image.encode_png(x), channels=3)
    yield "grey", tf.image.rgb_to_grayscale(real)
    for method in (tf.image.ResizeMethod.BILINEAR, tf.image.ResizeMethod.NEAREST_NEIGHBOR, tf.image.ResizeMethod.BICUBIC, tf.image.ResizeMethod.AREA):
        yield f"resized {method}", tf.image.resize_images(real, [5, 4], method=method)
        yield f"enlarged {method}", tf.image.resize_images(real, [13, 11], method=method, align_corners=True)
    yield "cropped", tf.image.crop_to_bounding_box(real, 1, 2, 4, 3)
    yield "padded", tf.image.resize_image_with_crop_or_pad(real, 12, 5)
    yield "central", tf.image.central_crop(real, 0.5)
    yield "flipped", [tf.image.flip_left_right(real), tf.image.flip_up_down(real), tf.image.transpose_image(real), tf.image.rot90(real, 3)]
    yield "brightness", tf.image.random_brightness(real, 0.3, seed=1)
    yield "contrast", tf.image.random_contrast(real, 0.5, 1.5, seed=2)
    yield "saturation", tf.image.random_saturation(real, 0.5, 1.5, seed=3)
    yield "hue", tf.image.random_hue(real, 0.2, seed=4)
    yield "crop", tf.random_crop(real, [4, 4, 3], seed=5)
    yield "flip", tf.image.random_flip_left_right(real, seed=6)
    yield "standard", tf.image.per_image_standardization(real)
    yield "colors", [tf.image.rgb_to_hsv(real), tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(real)), tf.image.rgb_to_yuv(real)]
    yield "gamma", tf.image.adjust_gamma(real, 0.7)
    yield "variation", tf.image.total_variation(real)
    yield "boxes", tf.image.draw_bounding_boxes(real[None], [[[0.1, 0.2, 0.8, 0.9]]])
    yield "crops", tf.image.crop_and_resize(real[None], [[0.0, 0.0, 0.5, 1.0], [0.9, 0.9, 0.1, 0.1]], [0, 0], [3, 3])
    yield "kept boxes", tf.image.non_max_suppression([[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]], [0.9, 0.8, 0.7], 3)
    yield "likeness", [tf.image.psnr(real, real * 0.9, 1.0), tf.image.sobel_edges(real[None])]
    yield "patches", tf.extract_image_patches(real[None], [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")


def texts():
    words = tf.constant(["the quick  fox", "", "lazy dogs", "A B c"])
    split = tf.string_split(words)
    yield "split", split
    yield "split by", tf.string_split(tf.constant(["a,b,,c"]), ",", skip_empty=False)
    yield "joined", [tf.string_join([words, tf.constant("!")], "-"), tf.reduce_join(split.values, 0, separator="_")]
    yield "substr", tf.substr(words[:1], 4, 5)
    yield "replaced", tf.regex_replace(words, "[aeiou]", "#")
    yield "matched", tf.strings.regex_full_match(words, ".*o.*")
    yield "cases", [tf.strings.lower(words), tf.strings.upper(words), tf.strings.strip(words)]
    yield "lengths", [tf.strings.length(words), tf.strings.length(tf.constant("naïve"), unit="UTF8_CHAR")]
    yield "numbers", [tf.string_to_number(["1.5", "-2e3"]), tf.string_to_number(["7"], tf.int64), tf.as_string(tf.constant([1.5, 2.25]), precision=3), tf.as_string(tf.constant([True]))]
    yield "hashed", [tf.string_to_hash_bucket(words, 100), tf.string_to_hash_bucket_fast(words, 100), tf.string_to_hash_bucket_strong(words, 100, [3, 4])]
    yield "base64", tf.decode_base64(tf.encode_base64(words))
    yield "bytes", [tf.decode_raw(tf.constant(["abcd"]), tf.int16), tf.strings.bytes_split(tf.constant("abc"))]
    yield "unicode", [tf.strings.unicode_decode(tf.constant("añ"), "UTF-8"), tf.strings.unicode_encode(tf.constant([0x61, 0xF1]), "UTF-8")]
    yield "ngrams", tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2).to_tensor("")
    yield "csv", tf.decode_csv(tf.constant(["1,2.5,x", "3,,y"]), [[0], [9.5], [""]])
    yield "unique", tuple(tf.unique_with_counts(tf.constant(["a", "b", "a"])))
    yield "formatted", tf.strings.format("{} and {}", (tf.constant([1, 2]), tf.constant("x")))


def messages():
    feature = {"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[3])), "values": tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2, 3])),
               "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n"]))}
    full = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    part = tf.train.Example(features=tf.train.Features(feature={"values": feature["values"]})).SerializeToString()
    spec = {"label": tf.FixedLenFeature([], tf.int64, default_value=-1), "values": tf.VarLenFeature(tf.float32), "name": tf.FixedLenFeature([], tf.string, default_value="none"),
            "several": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
    parsed = tf.parse_example(tf.constant([full, part]), spec)
    yield "examples", parsed
    yield "one", tf.parse_single_example(tf.constant(full), {"values": tf.FixedLenFeature([3], tf.float32)})
    sequence = tf.train.SequenceExample(context=tf.train.Features(feature={"label": feature["label"]}), feature_lists=tf.train.FeatureLists(
        feature_list={"steps": tf.train.FeatureList(feature=[feature["label"], feature["label"]])})).SerializeToString()
    context, lists = tf.parse_single_sequence_example(tf.constant(sequence), {"label": tf.FixedLenFeature([], tf.int64)}, {"steps": tf.FixedLenSequenceFeature([1], tf.int64)})
    yield "sequence", [context, lists]
    yield "tensor", tf.parse_tensor(tf.serialize_tensor(tf.constant([1.5, 2.5])), tf.float32)
    yield "missing", tf.parse_single_example(tf.constant(part), {"label": tf.FixedLenFeature([], tf.int64)})


def sparse_and_ragged():
    a = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], [1.0, 2.0, 3.0], [3, 4])
    b = tf.sparse.from_dense(tf.constant([[0.0, 5.0, 0.0, 1.0], [0.0] * 4, [0.0, 0.0, -3.0, 0.0]]))
    yield "sum", tf.sparse.add(a, b)
    yield "dense", tf.sparse.to_dense(a)
    yield "product", tf.sparse.sparse_dense_matmul(a, tf.ones([4, 2]))
    yield "softmax", tf.sparse.softmax(a)
    yield "reduced", [tf.sparse.reduce_sum(a, 1), tf.sparse.reduce_max(b, 0)]
    yield "shapes", [tf.sparse.reshape(a, [4, 3]), tf.sparse.transpose(a), tf.sparse.concat(1, [a, b]), tf.sparse.slice(a, [0, 0], [2, 2])]
    yield "split", tf.sparse.split(sp_input=a, num_split=2, axis=1)
    yield "filled", tf.sparse.fill_empty_rows(tf.sparse.slice(a, [1, 0], [2, 2]), -1.0)[0]
    yield "kept", tf.sparse.retain(a, [True, False, True])
    yield "merged", tf.sparse.merge(tf.SparseTensor([[0, 0], [1, 0]], tf.constant([2, 1], tf.int64), [2, 1]), tf.SparseTensor([[0, 0], [1, 0]], [0.5, 0.25], [2, 1]), 3)
    yield "indicator", tf.sparse_to_indicator(tf.SparseTensor([[0, 0], [1, 0]], tf.constant([2, 1], tf.int64), [2, 2]), 3)
    rows = tf.ragged.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    yield "ragged", [rows.to_tensor(-1), rows.row_lengths(), tf.reduce_sum(rows, 1), tf.concat([rows, rows], 1).to_tensor(), rows[2, 1:], tf.ragged.range([3, 1]).flat_values,
                     tf.gather(rows, [2, 0]).to_tensor(), tf.ragged.map_flat_values(tf.sqrt, rows).to_tensor(), tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 2]).to_tensor()]
    yield "masked", [tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]).to_tensor(), rows.to_sparse()]
    yield "segments", [tf.sparse.segment_sum(tf.ones([4, 2]), [0, 1, 3], [0, 0, 1]), tf.sparse.segment_mean(tf.ones([4, 2]), [0, 1, 3], [0, 0, 1])]


for source in (pictures, texts, messages, sparse_and_ragged):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(9)
        for name, value in source():
            if name == "missing":
                print(name, refusal(lambda: session.run(value)))
                continue
            out = session.run(value)
            if "RaggedTensorValue" in str(type(out)) or any("RaggedTensorValue" in str(type(one)) for one in (out if isinstance(out, list) else [])):
                print(name, [one.to_list() if hasattr(one, "to_list") else np.asarray(one).tolist() for one in (out if isinstance(out, list) else [out])])
            else:
                show(f"{source.__name__} {name}", out)

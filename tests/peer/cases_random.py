"""Random numbers, which are TensorFlow's to the bit for one seed, but for what functions of numbers come in between."""

import numpy as np

from case import Case, Program
from makers import INDEX, indices, ints, op
from values import FLOATS, REALS

ULPS = 8


def seeds(r):
    return {"seed": r.integer(1, 1000), "seed2": r.integer(0, 1000)}


def seed_pair(r):
    return ints(r.np.randint(-2**31, 2**31 - 1, 2) if r.chance(0.98) else [1], r.choice(INDEX))


def shape_input(r):
    shape = r.shape()
    if shape and r.chance(0.03):
        shape[0] = -1
    return ints(shape, r.choice(INDEX))


@op("StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal")
def stateless(r, name):
    return Case(name, [shape_input(r), seed_pair(r)], {"dtype": r.choice(REALS)}, ulps=ULPS, scale="one")


@op("StatelessRandomUniformFullInt")
def full_int(r, name):
    return Case(name, [shape_input(r), seed_pair(r)], {"dtype": r.choice(["int32", "int64", "uint32", "uint64"])})


@op("StatelessRandomUniformInt")
def stateless_int(r, name):
    dtype, low = r.choice(INDEX), r.integer(-10, 10)
    return Case(name, [shape_input(r), seed_pair(r), ints(low, dtype), ints(low + r.integer(0 if r.chance(0.1) else 1, 100), dtype)], {"dtype": dtype})


def key_counter(r):
    alg = r.choice([1, 1, 2, 3]) if r.chance(0.97) else 7
    return [ints([r.integer(0, 2**62)], "uint64"), ints([r.integer(0, 2**62), r.integer(0, 99)], "uint64"), ints(alg)]


@op("StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2")
def stateless_v2(r, name):
    return Case(name, [shape_input(r)] + key_counter(r), {"dtype": r.choice(REALS)}, ulps=ULPS, scale="one")


@op("StatelessRandomUniformFullIntV2")
def full_int_v2(r, name):
    return Case(name, [shape_input(r)] + key_counter(r), {"dtype": r.choice(["int32", "int64", "uint32", "uint64"])})


@op("StatelessRandomUniformIntV2")
def stateless_int_v2(r, name):
    dtype = r.choice(["int32", "int64", "uint32", "uint64"])
    low = r.integer(0 if dtype[0] == "u" else -10, 10)
    return Case(name, [shape_input(r)] + key_counter(r) + [ints(low, dtype), ints(low + r.integer(0 if r.chance(0.1) else 1, 100), dtype)], {"dtype": dtype})


@op("StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg")
def get_key(r, name):
    return Case(name, [seed_pair(r)])


@op("StatelessShuffle")
def stateless_shuffle(r, name):
    return Case(name, [r.values(r.dtype(name), r.shape())] + key_counter(r), ulps=0)


@op("StatelessMultinomial")
def stateless_multinomial(r, name):
    dtype, batch, classes = r.dtype(name, only=REALS), r.integer(0, 3), r.integer(1, 5)
    return Case(name, [r.values(dtype, [batch, classes] if r.chance(0.97) else r.shape(), "small"), ints(r.integer(0, 6)), seed_pair(r)],
                {"output_dtype": r.choice(INDEX)})


@op("StatelessRandomBinomial")
def stateless_binomial(r, name):
    dtype, shape = r.dtype(name, only=FLOATS), r.shape(0, 2)
    return Case(name, [ints(shape), seed_pair(r), (dtype, np.abs(np.round(r.tensor(dtype, [], "small"))) * 5), r.values(dtype, [], "unit")],
                {"dtype": r.dtype(name, "dtype", only=FLOATS + INDEX)})


@op("StatelessRandomPoisson")
def stateless_poisson(r, name):
    dtype, shape = r.dtype(name, "Rtype", only=FLOATS + ["half"]), r.shape(0, 2)
    return Case(name, [ints(shape), seed_pair(r), (dtype, np.abs(r.tensor(dtype, [], "small")) * 3)], {"dtype": r.choice(FLOATS + INDEX)})


@op("StatelessRandomGammaV2")
def stateless_gamma(r, name):
    dtype, alpha = r.choice(["half"] + FLOATS), r.shape(0, 1)
    return Case(name, [ints(r.shape(0, 1) + alpha), seed_pair(r), r.values(dtype, alpha, "positive")], ulps=64, scale="one")


@op("StatelessRandomGammaV3")
def stateless_gamma_v3(r, name):
    dtype, alpha = r.choice(["half"] + FLOATS), r.shape(0, 1)
    return Case(name, [ints(r.shape(0, 1) + alpha)] + key_counter(r) + [r.values(dtype, alpha, "positive")], ulps=64, scale="one")


@op("StatelessParameterizedTruncatedNormal")
def stateless_parameterized(r, name):
    dtype, shape = r.choice(["half"] + FLOATS), r.shape(0, 2, empty=False)
    low = np.abs(r.tensor(dtype, [], "small"))
    return Case(name, [ints(shape), seed_pair(r), r.values(dtype, [], "small"), r.values(dtype, [], "positive"), (dtype, -low - 1), (dtype, low)], ulps=64,
                scale="one")


@op("RandomUniform RandomStandardNormal TruncatedNormal")
def random_numbers(r, name):
    return Case(name, [shape_input(r)], {"dtype": r.choice(REALS), **seeds(r)}, ulps=ULPS, scale="one")


@op("RandomUniformInt")
def random_int(r, name):
    dtype = r.choice(INDEX)
    low = r.integer(-10, 10)
    return Case(name, [shape_input(r), ints(low, dtype), ints(low + r.integer(0 if r.chance(0.1) else 1, 100), dtype)], seeds(r))


@op("ParameterizedTruncatedNormal")
def parameterized(r, name):
    dtype, batch = r.choice(["half"] + FLOATS), r.integer(1, 3)
    shape = [batch] + r.shape(0, 2)
    vary = [batch] if r.chance(0.5) else []
    low = np.abs(r.tensor(dtype, vary, "small"))
    return Case(name, [ints(shape), r.values(dtype, vary, "small"), r.values(dtype, vary, "positive"), (dtype, -low - 1), (dtype, low)], seeds(r), ulps=64,
                scale="one")


@op("RandomShuffle")
def shuffle(r, name):
    return Case(name, [r.values(r.dtype(name), r.shape())], seeds(r), ulps=0)


@op("RandomCrop")
def random_crop(r, name):
    shape = [r.integer(1, 6), r.integer(1, 6), r.integer(1, 3)]
    size = [r.integer(1, shape[0]), r.integer(1, shape[1])]
    return Case(name, [r.values(r.dtype(name), shape), ints(size if r.chance(0.97) else [9, 9], "int64")], seeds(r), ulps=0)


@op("Multinomial")
def multinomial(r, name):
    dtype, batch, classes = r.dtype(name, only=REALS), r.integer(0, 3), r.integer(1, 5)
    return Case(name, [r.values(dtype, [batch, classes] if r.chance(0.97) else r.shape(), "small"), ints(r.integer(0, 6) if r.chance(0.97) else -1)],
                {"output_dtype": r.choice(INDEX), **seeds(r)})


@op("RandomGamma")
def gamma(r, name):
    dtype = r.choice(["half"] + FLOATS)
    return Case(name, [ints(r.shape(0, 2)), r.values(dtype, r.shape(0, 1), "positive")], seeds(r), ulps=64, scale="one")


@op("RandomPoissonV2")
def poisson(r, name):
    dtype = r.choice(["half"] + FLOATS)
    rate = r.shape(0, 1)
    return Case(name, [ints(r.shape(0, 2)), (dtype, (np.abs(r.tensor(dtype, rate, "small")) * 4).astype(r.tensor(dtype, []).dtype))],
                {"dtype": r.choice(FLOATS + INDEX), **seeds(r)})


@op("UniformCandidateSampler LogUniformCandidateSampler LearnedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler AllCandidateSampler")
def sampler(r, name):
    count, most = r.integer(1, 3), r.integer(3, 12)
    labels = indices(r, [r.integer(1, 3), count], most)
    attrs = {"num_true": count if r.chance(0.97) else count + 1, "num_sampled": r.integer(1, 3 if r.chance(0.9) else 20), "unique": r.chance(0.5), **seeds(r)}
    if name == "AllCandidateSampler":
        attrs["num_sampled"] = most
    else:
        attrs["range_max"] = most
    return Case(name, [ints(labels, "int64")], attrs, ulps=32)


@op("FixedUnigramCandidateSampler")
def fixed_sampler(r, name):
    count, most = r.integer(1, 3), r.integer(3, 12)
    return Case(name, [ints(indices(r, [r.integer(1, 3), count], most), "int64")],
                {"num_true": count, "num_sampled": r.integer(1, 3), "unique": r.chance(0.5), "range_max": most,
                 "unigrams": [float(r.integer(1, 9)) for _ in range(most)], "distortion": r.choice([1.0, 0.75]), **seeds(r)}, ulps=32)


@op("ComputeAccidentalHits")
def accidental(r, name):
    count = r.integer(1, 3)
    return Case(name, [ints(r.np.randint(0, 6, [r.integer(1, 3), count]), "int64"), ints(r.np.randint(0, 6, r.integer(0, 6)), "int64")],
                {"num_true": count, **seeds(r)})


@op("StatefulUniform StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniformFullInt StatefulUniformInt StatefulRandomBinomial RngSkip RngReadAndSkip")
def stateful(r, name):
    """A generator's state is a variable."""
    p = Program(name, ulps=ULPS, scale="one")
    alg = r.choice([1, 1, 2])
    state = ints(r.np.randint(0, 2**62, 3 if alg == 1 else 2), "int64")
    handle = p.node("VarHandleOp", [], {"dtype": "int64", "shape": list(state[1].shape), "shared_name": f"rng{r.integer(0, 1 << 30)}"})
    p.then("AssignVariableOp", [handle, p.value(*state)])
    if name == "RngSkip":
        p.then(name, [handle, p.ints(alg, "int64"), p.ints(r.integer(0, 300), "int64")])
    elif name == "RngReadAndSkip":
        p.fetch(p.then(name, [handle, p.ints(alg), p.ints(r.integer(0, 300), "uint64")]))
    else:
        shape = p.ints(r.shape(0, 2), r.choice(INDEX))
        which = p.ints(alg, "int64")
        if name == "StatefulUniformInt":
            low = r.integer(-5, 5)
            out = p.then(name, [handle, which, shape, p.ints(low, "int64"), p.ints(low + r.integer(1, 50), "int64")])
        elif name == "StatefulRandomBinomial":
            out = p.then(name, [handle, which, shape, p.value("float", r.integer(1, 20)), p.value("float", 0.4)], {"dtype": "float"})
        else:
            dtype = r.choice(["int32", "int64", "uint32", "uint64"]) if name == "StatefulUniformFullInt" else r.choice(REALS)
            out = p.then(name, [handle, which, shape], {"dtype": dtype})
        p.fetch(out)
    p.fetch(p.then("ReadVariableOp", [handle], {"dtype": "int64"}))
    return p



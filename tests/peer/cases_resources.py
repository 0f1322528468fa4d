"""Random small graphs of ops that need what another node made: queues, tables, stacks, lists, maps, TensorArrays, accumulators, barriers."""

import numpy as np

from case import Program
from makers import INDEX, op
from tensors import numpy_type
from values import FLOATS, NUMBERS

KINDS = ["float", "double", "int32", "int64", "string", "bool", "half", "complex64"]


def unique(r):
    return f"shared{r.integer(0, 1 << 40)}"


QUEUES = """FIFOQueue FIFOQueueV2 PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue PriorityQueueV2 RandomShuffleQueue RandomShuffleQueueV2 QueueEnqueue
    QueueEnqueueV2 QueueEnqueueMany QueueEnqueueManyV2 QueueDequeue QueueDequeueV2 QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2
    QueueClose QueueCloseV2 QueueSize QueueSizeV2 QueueIsClosed QueueIsClosedV2"""


@op(QUEUES)
def queue(r, name):
    v = "V2" if name.endswith("V2") else ""
    base = name.removesuffix("V2")
    kind = base if base.endswith("Queue") else r.choice(["FIFOQueue", "FIFOQueue", "PaddingFIFOQueue", "PriorityQueue"])
    p = Program(name, ulps=0)
    types = [r.choice(KINDS) for _ in range(r.integer(1, 2))]
    shapes = [[min(d, 3) for d in r.shape(0, 2)] for _ in types]
    attrs = {"capacity": r.choice([-1, 10, 3]), "shared_name": unique(r)}
    if kind != "PriorityQueue":
        attrs["component_types"] = types
        if kind == "PaddingFIFOQueue":
            attrs["shapes"] = [[None if r.chance(0.4) else d for d in s] for s in shapes]
        elif r.chance(0.6):
            attrs["shapes"] = shapes
    else:
        attrs.update(component_types=types, shapes=shapes)
        types, shapes = ["int64"] + types, [[]] + shapes
    if kind == "RandomShuffleQueue":
        attrs.update(seed=r.integer(1, 99), seed2=r.integer(1, 99), min_after_dequeue=0)
        attrs["capacity"] = 10
    q = p.node(kind + v, [], attrs)
    room = attrs["capacity"] if attrs["capacity"] > 0 else 20
    size, static = 0, "shapes" in attrs
    for _ in range(r.integer(1, 5)):
        what = r.choice(["put", "put", "put_many", "take", "take_many", "up_to", "size"])
        if what == "put" and size < room:
            p.then("QueueEnqueue" + v, [q] + [p.value(t, r.tensor(t, s if r.chance(0.98) else [5])) for t, s in zip(types, shapes)])
            size += 1
        elif what == "put_many" and static:
            n = r.integer(0, min(3, room - size))
            p.then("QueueEnqueueMany" + v, [q] + [p.value(t, r.tensor(t, [n] + s)) for t, s in zip(types, shapes)])
            size += n
        elif what == "take" and size:
            out = p.then("QueueDequeue" + v, [q], {"component_types": types})
            p.fetch(*[f"{out}:{i}" for i in range(len(types))])
            size -= 1
        elif what == "take_many" and static:
            n = r.integer(0, min(size, 3))
            out = p.then("QueueDequeueMany" + v, [q, p.ints(n if r.chance(0.97) else -1)], {"component_types": types})
            p.fetch(*[f"{out}:{i}" for i in range(len(types))])
            size -= n
        elif what == "size":
            p.fetch(p.then("QueueSize" + v, [q]))
    p.then("QueueClose" + v, [q], {"cancel_pending_enqueues": r.chance(0.5)})
    p.fetch(p.then("QueueIsClosed" + v, [q]))
    if r.chance(0.7):
        n = r.integer(1, 4)
        if static and r.chance(0.7):
            out = p.then(r.choice(["QueueDequeueUpTo", "QueueDequeueMany"]) + v, [q, p.ints(n)], {"component_types": types})
        else:
            out = p.then("QueueDequeue" + v, [q], {"component_types": types})
        p.fetch(*[f"{out}:{i}" for i in range(len(types))])
    if r.chance(0.1):
        p.then("QueueEnqueue" + v, [q] + [p.value(t, r.tensor(t, s)) for t, s in zip(types, shapes)])
    p.fetch(p.then("QueueSize" + v, [q]))
    return p


TABLES = """HashTable HashTableV2 MutableHashTable MutableHashTableV2 MutableHashTableOfTensors MutableHashTableOfTensorsV2 MutableDenseHashTable
    MutableDenseHashTableV2 LookupTableFind LookupTableFindV2 LookupTableInsert LookupTableInsertV2 LookupTableRemoveV2 LookupTableSize LookupTableSizeV2
    LookupTableExport LookupTableExportV2 LookupTableImport LookupTableImportV2 InitializeTable InitializeTableV2"""


@op(TABLES)
def table(r, name):
    v = "V2" if name.endswith("V2") else ""
    base = name.removesuffix("V2")
    kind = base if "HashTable" in base else r.choice(["HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable"])
    if "Initialize" in base:
        kind = "HashTable"
    elif kind == "HashTable" and ("Insert" in base or "Remove" in base or "Import" in base):
        kind = "MutableHashTable"
    p = Program(name, ulps=0)
    key, value = r.choice([("string", "int64"), ("int64", "string"), ("string", "float"), ("int64", "float"), ("int64", "int64"), ("string", "string"),
                           ("int32", "int32"), ("string", "bool"), ("int64", "int32"), ("int64", "double"), ("string", "int32")])
    attrs = {"key_dtype": key, "value_dtype": value, "shared_name": unique(r)}
    shape, kshape = [], []
    if kind == "MutableHashTableOfTensors":
        shape = [r.integer(0, 3)]
        attrs["value_shape"] = shape
    inputs = []
    if kind == "MutableDenseHashTable":
        key, value = r.choice([("int64", "int64"), ("int64", "float"), ("int64", "bool"), ("string", "int64"), ("string", "bool"), ("int32", "float"), ("int64", "int32")])
        shape = r.choice([[], [2]])
        attrs = {"value_dtype": value, "shared_name": attrs["shared_name"], "value_shape": shape, "initial_num_buckets": r.choice([4, 32])}
        inputs = [p.value(key, np.array(b"none", object) if key == "string" else 1000), p.value(key, np.array(b"gone", object) if key == "string" else 1001)]

    def keys(n):
        return r.tensor(key, [n] + kshape, "small")
    t = p.node(kind + v, inputs, attrs)
    n = r.integer(0, 4)
    if kind == "HashTable":
        k = np.unique(keys(n)) if key != "string" else np.array(sorted(set(keys(n).tolist())) + [None], object)[:-1]
        if r.chance(0.05) and len(k):
            k = np.concatenate([k, k[:1]])
        if r.chance(0.97):
            p.then("InitializeTable" + v, [t, p.value(key, k), p.value(value, r.tensor(value, [len(k)]))])
    else:
        for _ in range(r.integer(1, 3)):
            n = r.integer(0, 4)
            p.then("LookupTable" + ("Import" if base == "LookupTableImport" or r.chance(0.1) else "Insert") + v,
                   [t, p.value(key, keys(n)), p.value(value, r.tensor(value, [n if r.chance(0.98) else n + 1] + shape))])
            if v and r.chance(0.3):
                p.then("LookupTableRemoveV2", [t, p.value(key, keys(r.integer(0, 2)))])
    where = [min(d, 3) for d in r.shape(0, 2)]
    p.fetch(p.then("LookupTableFind" + v, [t, p.value(key, r.tensor(key, where, "small")), p.value(value, r.tensor(value, shape if r.chance(0.97) else [4]))]))
    p.fetch(p.then("LookupTableSize" + v, [t]))
    return p


@op("Stack StackV2 StackPush StackPushV2 StackPop StackPopV2 StackClose StackCloseV2")
def stack(r, name):
    v = "V2" if name.endswith("V2") else ""
    p = Program(name, ulps=0)
    dtype = r.choice(KINDS)
    most = r.choice([-1, 2, 5])
    s = p.node("StackV2", [p.ints(most)], {"elem_type": dtype, "stack_name": "s"}) if v else p.node("Stack", [], {"elem_type": dtype, "stack_name": "s"})
    size = 0
    for _ in range(r.integer(1, 5)):
        if size == 0 or r.chance(0.6):
            other = dtype if r.chance(0.99) else "int16"
            p.fetch(p.then("StackPush" + v, [s, p.value(other, r.tensor(other, r.shape(0, 2)))]))
            size += 1
        else:
            p.fetch(p.then("StackPop" + v, [s], {"elem_type": dtype}))
            size -= 1
    if r.chance(0.05):
        for _ in range(size + 1):
            p.fetch(p.then("StackPop" + v, [s], {"elem_type": dtype}))
    p.fetch(p.then("StackClose" + v, [s]))
    return p


LISTS = """EmptyTensorList TensorListPushBack TensorListPopBack TensorListLength TensorListElementShape TensorListFromTensor TensorListStack TensorListReserve
    TensorListGetItem TensorListSetItem TensorListResize TensorListConcat TensorListConcatV2 TensorListSplit TensorListGather TensorListScatter
    TensorListScatterV2 TensorListScatterIntoExistingList TensorListConcatLists TensorListPushBackBatch"""


def new_list(r, p, dtype, element, known):
    """A list node and its length."""
    shape = p.ints([-1 if r.chance(0.3) else d for d in element] if known else -1, r.choice(INDEX))
    how = r.choice(["empty", "from", "reserve", "split", "scatter"])
    if how == "empty":
        return p.node("EmptyTensorList", [shape, p.ints(r.choice([-1, 3, 0]))], {"element_dtype": dtype}), 0
    n = r.integer(0, 4)
    if how == "from":
        return p.node("TensorListFromTensor", [p.value(dtype, r.tensor(dtype, [n] + element)), shape], {"element_dtype": dtype}), n
    if how == "reserve":
        return p.node("TensorListReserve", [shape, p.ints(n if r.chance(0.97) else -1)], {"element_dtype": dtype}), n
    if how == "split" and element:
        lengths = [r.integer(0, 3) for _ in range(n)]
        free = p.ints([-1] + element[1:])
        return p.node("TensorListSplit", [p.value(dtype, r.tensor(dtype, [sum(lengths)] + element[1:])), free, p.ints(lengths, "int64")], {"element_dtype": dtype}), n
    order = r.np.permutation(n)
    if r.chance(0.5):
        return p.node("TensorListScatter", [p.value(dtype, r.tensor(dtype, [n] + element)), p.ints(order), shape], {"element_dtype": dtype}), n
    return p.node("TensorListScatterV2", [p.value(dtype, r.tensor(dtype, [n] + element)), p.ints(order), shape, p.ints(r.choice([-1, n, n + 1]))],
                  {"element_dtype": dtype}), n


@op(LISTS)
def tensor_list(r, name):
    p = Program(name, ulps=0)
    dtype, element = r.choice(KINDS), [min(d, 3) for d in r.shape(0, 2)]
    handle, size = new_list(r, p, dtype, element, r.chance(0.7))
    shape = p.ints(element if r.chance(0.7) else [-1] * len(element) if r.chance(0.7) else -1)
    for _ in range(r.integer(1, 4)):
        what = r.choice(["push", "push", "pop", "get", "set", "resize", "scatter", "lists", "length"])
        if what == "push":
            handle = p.node("TensorListPushBack", [handle, p.value(dtype, r.tensor(dtype, element if r.chance(0.97) else [9]))])
            size += 1
        elif what == "pop" and (size or r.chance(0.05)):
            out = p.node("TensorListPopBack", [handle, shape], {"element_dtype": dtype})
            p.fetch(out + ":1")
            handle, size = out, size - 1
        elif what == "get" and size > 0:
            p.fetch(p.node("TensorListGetItem", [handle, p.ints(r.integer(0, size - 1) if r.chance(0.95) else r.choice([-1, size])), shape], {"element_dtype": dtype}))
        elif what == "set" and size > 0:
            attrs = {"resize_if_index_out_of_bounds": True} if r.chance(0.2) else {}
            at = r.integer(0, size - 1) if r.chance(0.9) else r.choice([-1, size])
            handle = p.node("TensorListSetItem", [handle, p.ints(at), p.value(dtype, r.tensor(dtype, element if r.chance(0.97) else [9]))], attrs)
        elif what == "resize":
            size = r.integer(0, 5) if r.chance(0.97) else -1
            handle = p.node("TensorListResize", [handle, p.ints(size)])
        elif what == "scatter" and size > 0:
            n = r.integer(0, size)
            handle = p.node("TensorListScatterIntoExistingList", [handle, p.value(dtype, r.tensor(dtype, [n] + element)), p.ints(r.np.permutation(size)[:n])])
        elif what == "lists":
            other, more = new_list(r, p, dtype, element, False)
            handle = p.node("TensorListConcatLists", [handle, other], {"element_dtype": dtype})
            size += more
    p.fetch(p.node("TensorListLength", [handle]))
    end = r.choice(["stack", "stack", "gather", "concat", "concat2", "shape"])
    if end == "stack":
        p.fetch(p.node("TensorListStack", [handle, shape], {"element_dtype": dtype, "num_elements": -1 if r.chance(0.8) else size}))
    elif end == "gather":
        n = r.integer(0, 3) if size > 0 else 0
        p.fetch(p.node("TensorListGather", [handle, p.ints(r.np.randint(0, max(size, 1), n)), shape], {"element_dtype": dtype}))
    elif end == "concat":
        out = p.node("TensorListConcat", [handle], {"element_dtype": dtype, "element_shape": [None] * len(element) if r.chance(0.7) else None})
        p.fetch(out, out + ":1")
    elif end == "concat2":
        out = p.node("TensorListConcatV2", [handle, shape, p.ints([0, 2, 3], "int64")], {"element_dtype": dtype})
        p.fetch(out, out + ":1")
    else:
        p.fetch(p.node("TensorListElementShape", [handle], {"shape_type": r.choice(INDEX)}))
    return p


@op("EmptyTensorMap TensorMapInsert TensorMapLookup TensorMapErase TensorMapHasKey TensorMapSize TensorMapStackKeys")
def tensor_map(r, name):
    p = Program(name, ulps=0)
    key, value = r.choice(["int32", "int64", "string", "float"]), r.choice(KINDS)
    m = p.node("EmptyTensorMap", [])
    used = []
    for _ in range(r.integer(1, 4)):
        k = p.value(key, r.tensor(key, [], "small"))
        used.append(k)
        m = p.node("TensorMapInsert", [m, k, p.value(value, r.tensor(value, r.shape(0, 2)))], {"key_dtype": key, "value_dtype": value})
    k = r.choice(used) if r.chance(0.8) else p.value(key, r.tensor(key, [], "small"))
    p.fetch(p.node("TensorMapHasKey", [m, k], {"key_dtype": key}))
    if r.chance(0.4):
        m = p.node("TensorMapErase", [m, r.choice(used)], {"key_dtype": key, "value_dtype": value})
    else:
        p.fetch(p.node("TensorMapLookup", [m, k], {"key_dtype": key, "value_dtype": value}))
    p.fetch(p.node("TensorMapSize", [m]))
    if len(used) == 1:  # their order is the hash's
        p.fetch(p.node("TensorMapStackKeys", [m], {"key_dtype": key}))
    return p


ARRAYS = """TensorArrayV3 TensorArrayWriteV3 TensorArrayReadV3 TensorArrayGatherV3 TensorArrayScatterV3 TensorArrayConcatV3 TensorArraySplitV3 TensorArraySizeV3
    TensorArrayCloseV3 TensorArrayGradV3 TensorArrayGradWithShape"""


@op(ARRAYS)
def tensor_array(r, name):
    p = Program(name, ulps=16)
    dtype, element, n = r.choice(KINDS[:4] + ["half", "complex64"]), [min(d, 3) for d in r.shape(0, 2)], r.integer(0, 4)
    array = p.node("TensorArrayV3", [p.ints(n)], {"dtype": dtype, "element_shape": element if r.chance(0.5) else None, "dynamic_size": r.chance(0.4),
                                                  "clear_after_read": r.chance(0.4), "identical_element_shapes": r.chance(0.4), "tensor_array_name": "a"})
    flow = array + ":1"
    how = r.choice(["write", "write", "scatter", "split"])
    if how == "write":
        for i in r.np.permutation(n)[:n if r.chance(0.8) else max(n - 1, 0)]:
            flow = p.node("TensorArrayWriteV3", [array, p.ints(i if r.chance(0.98) else r.choice([-1, n])), p.value(dtype, r.tensor(dtype, element, "small")), flow])
        if n and r.chance(0.1):
            flow = p.node("TensorArrayWriteV3", [array, p.ints(0), p.value(dtype, r.tensor(dtype, element, "small")), flow])
    elif how == "scatter":
        flow = p.node("TensorArrayScatterV3", [array, p.ints(r.np.permutation(n)), p.value(dtype, r.tensor(dtype, [n] + element, "small")), flow])
    else:
        lengths = [r.integer(0, 2) for _ in range(n)]
        flow = p.node("TensorArraySplitV3", [array, p.value(dtype, r.tensor(dtype, [sum(lengths)] + element, "small")), p.ints(lengths, "int64"), flow])
    p.fetch(p.node("TensorArraySizeV3", [array, flow]))
    if "Grad" in name and dtype in FLOATS + ["half", "complex64"]:
        if name == "TensorArrayGradWithShape":
            grad = p.node(name, [array, flow, p.ints([])], {"source": "g"})
        else:
            grad = p.node("TensorArrayGradV3", [array, flow], {"source": "g"})
        inner = grad + ":1"
        for _ in range(r.integer(1, 3)):  # what is written to the same index is added
            if n and how != "split":
                inner = p.node("TensorArrayWriteV3", [grad, p.ints(r.integer(0, n - 1)), p.value(dtype, r.tensor(dtype, element, "small")), inner])
        p.fetch(p.node("TensorArraySizeV3", [grad, inner]))
        if n and how == "write":
            p.fetch(p.node("TensorArrayGatherV3", [grad, p.ints(range(n)), inner], {"dtype": dtype, "element_shape": None}))
        return p
    end = r.choice(["gather", "gather", "read", "concat"])
    if end == "gather":
        which = list(range(n)) if r.chance(0.7) else list(r.np.randint(0, max(n, 1), r.integer(0, 3)))
        p.fetch(p.node("TensorArrayGatherV3", [array, p.ints(which), flow], {"dtype": dtype, "element_shape": element if r.chance(0.5) and how != "split" else None}))
    elif end == "read" and n:
        p.fetch(p.node("TensorArrayReadV3", [array, p.ints(r.integer(0, n - 1) if r.chance(0.95) else n), flow], {"dtype": dtype}))
    else:
        out = p.node("TensorArrayConcatV3", [array, flow], {"dtype": dtype, "element_shape_except0": element[1:] if r.chance(0.3) and element else None})
        p.fetch(out, out + ":1")
    return p


ACCUMULATORS = """ConditionalAccumulator AccumulatorApplyGradient AccumulatorTakeGradient AccumulatorSetGlobalStep AccumulatorNumAccumulated
    ResourceConditionalAccumulator ResourceAccumulatorApplyGradient ResourceAccumulatorTakeGradient ResourceAccumulatorSetGlobalStep
    ResourceAccumulatorNumAccumulated"""


@op(ACCUMULATORS)
def accumulator(r, name):
    v = "Resource" if name.startswith("Resource") else ""
    p = Program(name, ulps=8)
    dtype, shape = r.choice(FLOATS + ["half"]), [min(d, 3) for d in r.shape(0, 2)]
    a = p.node(v + "ConditionalAccumulator", [], {"dtype": dtype, "shape": shape if r.chance(0.6) else None, "shared_name": unique(r),
                                                  "reduction_type": r.choice(["MEAN", "SUM"])})
    n = r.integer(1, 4)
    if r.chance(0.3):
        p.then(v + "AccumulatorSetGlobalStep", [a, p.ints(r.integer(0, 3), "int64")])
    for _ in range(n):
        p.then(v + "AccumulatorApplyGradient", [a, p.ints(3 if r.chance(0.9) else 0, "int64"), p.value(dtype, r.tensor(dtype, shape if r.chance(0.98) else [7], "small"))])
    p.fetch(p.then(v + "AccumulatorNumAccumulated", [a]))
    if r.chance(0.9):
        p.fetch(p.then(v + "AccumulatorTakeGradient", [a, p.ints(1)], {"dtype": dtype}))
        p.fetch(p.then(v + "AccumulatorNumAccumulated", [a]))
    return p


@op("SparseConditionalAccumulator SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient")
def sparse_accumulator(r, name):
    p = Program(name, ulps=8)
    dtype, rest, rows = r.choice(FLOATS + ["half"]), [min(d, 3) for d in r.shape(0, 1)], r.integer(1, 5)
    a = p.node("SparseConditionalAccumulator", [], {"dtype": dtype, "shape": [rows] + rest if r.chance(0.5) else None, "shared_name": unique(r),
                                                    "reduction_type": r.choice(["MEAN", "SUM"])})
    for _ in range(r.integer(1, 3)):
        which = np.sort(r.np.permutation(rows)[:r.integer(1, rows)])
        p.then("SparseAccumulatorApplyGradient", [a, p.ints(0, "int64"), p.ints(which, "int64"), p.value(dtype, r.tensor(dtype, [len(which)] + rest, "small")),
                                                  p.ints([rows] + rest, "int64")], {"has_known_shape": r.chance(0.5)})
    out = p.then("SparseAccumulatorTakeGradient", [a, p.ints(1)], {"dtype": dtype})
    p.fetch(out, out + ":1", out + ":2")
    return p


@op("Barrier BarrierInsertMany BarrierTakeMany BarrierClose BarrierReadySize BarrierIncompleteSize")
def barrier(r, name):
    p = Program(name, ulps=0)
    types = [r.choice(NUMBERS + ["string"]) for _ in range(r.integer(1, 2))]
    shapes = [[min(d, 2) for d in r.shape(0, 1, empty=False)] for _ in types]
    b = p.node("Barrier", [], {"component_types": types, "shapes": shapes, "shared_name": unique(r)})
    n = r.integer(1, 3)
    keys = [f"key{i}".encode() for i in range(n)]
    for component in range(len(types)):
        p.then("BarrierInsertMany", [b, p.value("string", np.array(keys, object)), p.value(types[component], r.tensor(types[component], [n] + shapes[component]))],
               {"component_index": component})
    p.fetch(p.then("BarrierReadySize", [b]), p.then("BarrierIncompleteSize", [b]))
    out = p.then("BarrierTakeMany", [b, p.ints(r.integer(1, n))], {"component_types": types, "allow_small_batch": r.chance(0.5), "wait_for_incomplete": r.chance(0.5)})
    p.fetch(out, *[f"{out}:{i + 1}" for i in range(1 + len(types))])
    p.then("BarrierClose", [b], {"cancel_pending_enqueues": r.chance(0.5)})
    p.fetch(p.then("BarrierReadySize", [b]))
    return p


@op("OptionalFromValue OptionalNone OptionalHasValue OptionalGetValue")
def optional(r, name):
    p = Program(name, ulps=0)
    types = [r.choice(KINDS) for _ in range(r.integer(1, 2))]
    shapes = [r.shape(0, 2) for _ in types]
    some = r.chance(0.8)
    o = p.node("OptionalFromValue", [p.value(t, r.tensor(t, s)) for t, s in zip(types, shapes)]) if some else p.node("OptionalNone", [])
    p.fetch(p.node("OptionalHasValue", [o]))
    if some or r.chance(0.2):
        out = p.node("OptionalGetValue", [o], {"output_types": types, "output_shapes": shapes if r.chance(0.95) else [[9]] * len(types)})
        p.fetch(*[f"{out}:{i}" for i in range(len(types))])
    return p


@op("Switch Merge RefSwitch RefMerge RefSelect")
def switch(r, name):
    p = Program(name, ulps=0)
    dtype = r.choice(KINDS)
    x = p.value(dtype, r.tensor(dtype, r.shape(0, 2)))
    s = p.node("Switch", [x, p.value("bool", r.chance(0.5))])
    left, right = p.node("Identity", [s]), p.node("Identity", [s + ":1"])
    m = p.node("Merge", [left, right])
    p.fetch(m, m + ":1")
    return p


@op("VarHandleOp DestroyResourceOp Variable VariableV2 RefIdentity")
def variables(r, name):
    p = Program(name, ulps=0)
    dtype, shape = r.choice(KINDS), r.shape(0, 2)
    if name in ("VarHandleOp", "DestroyResourceOp"):
        h = p.node("VarHandleOp", [], {"dtype": dtype, "shape": shape if r.chance(0.7) else None, "shared_name": unique(r)})
        if r.chance(0.9):
            p.then("AssignVariableOp", [h, p.value(dtype, np.asarray(r.tensor(dtype, shape if r.chance(0.95) else [8]), numpy_type(dtype)))])
            p.fetch(p.then("ReadVariableOp", [h], {"dtype": dtype if r.chance(0.97) else "int8"}))
        p.fetch(p.then("VarIsInitializedOp", [h]))
        if name == "DestroyResourceOp":
            p.then(name, [h], {"ignore_lookup_error": r.chance(0.5)})
            p.fetch(p.then("VarIsInitializedOp", [h]))
        return p
    v = p.node("VariableV2" if name != "Variable" else "Variable", [], {"dtype": dtype, "shape": shape, "shared_name": unique(r)})
    p.fetch(p.then("IsVariableInitialized", [v]))
    if r.chance(0.9):
        p.then("Assign", [v, p.value(dtype, r.tensor(dtype, shape if r.chance(0.95) else [8]))], {"validate_shape": r.chance(0.7)})
    p.fetch(p.then("Identity", [p.node("RefIdentity", [v], None, p.last) if name == "RefIdentity" else v]))
    return p

// Lists: what each op makes of them, that a list changes in place only where nobody else sees it,
// and what is refused.
#include "core/base/strings.hpp"
#include "core/tensor/variant.hpp"
#include "kernels/list/internal/tensor_list.hpp"
#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace tensor_list_ops {
TROUPE_OPS_IN_GRAPHS("EmptyTensorList EmptyTensorMap OptionalFromValue OptionalGetValue",
                     "OptionalHasValue OptionalNone TensorListConcat TensorListConcatLists",
                     "TensorListConcatV2 TensorListElementShape TensorListFromTensor",
                     "TensorListGather TensorListGetItem TensorListLength TensorListPopBack",
                     "TensorListPushBack TensorListPushBackBatch TensorListReserve",
                     "TensorListResize TensorListScatter TensorListScatterIntoExistingList",
                     "TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack",
                     "TensorMapErase TensorMapHasKey TensorMapInsert TensorMapLookup",
                     "TensorMapSize TensorMapStackKeys");
} // namespace tensor_list_ops

namespace troupe {
namespace {

using list::testing::Attrs;
using list::testing::lit;
using list::testing::OpRunner;

const Attrs of_floats = {{"element_dtype", DType::float32}};

/// What a task that reads a tensor's written form has.
Tensor as_read(const Tensor& tensor) {
  Tensor out = tensor.deep_copy();
  if (tensor.dtype() == DType::variant)
    for (Variant& variant : out.mutable_data<Variant>()) {
      VariantParts parts = *parts_of(variant);
      for (Tensor& inner : parts.tensors)
        inner = as_read(inner);
      variant = make_variant(variant.type_name, std::move(parts));
    }
  return out;
}

struct Lists : OpRunner {
  Tensor empty(std::string_view shape, int max = -1, DType dtype = DType::float32) {
    return run("EmptyTensorList", {lit(shape), Tensor::scalar<std::int32_t>(max)},
               {{"element_dtype", dtype}});
  }
  Tensor reserved(std::string_view shape, int size, DType dtype = DType::float32) {
    return run("TensorListReserve", {lit(shape), Tensor::scalar<std::int32_t>(size)},
               {{"element_dtype", dtype}});
  }
  Tensor push(Tensor list, Tensor item) {
    return run("TensorListPushBack", owned(std::move(list), std::move(item)));
  }
  Tensor set(Tensor list, int i, Tensor item) {
    return run("TensorListSetItem",
               owned(std::move(list), Tensor::scalar<std::int32_t>(i), std::move(item)));
  }
  Tensor from(std::string_view rows, std::string_view shape) {
    return run("TensorListFromTensor", {lit(rows), lit(shape)});
  }
  std::string stacked(Tensor list, std::string_view shape = "i32[] -1",
                      DType dtype = DType::float32) {
    return text("TensorListStack", {std::move(list), lit(shape)}, {{"element_dtype", dtype}});
  }
};

TEST_CASE_FIXTURE(Lists, "lists: pushed elements come back in order, and pop from the end") {
  Tensor list = push(push(empty("i32[1] 2"), lit("f32[2] 1 2")), lit("f32[2] 3 4"));
  CHECK(text("TensorListLength", {list}) == "i32[] 2");
  CHECK(stacked(list) == "f32[2,2] 1 2 3 4");
  const auto popped = run_all("TensorListPopBack", {list, lit("i32[1] 2")}, of_floats);
  CHECK(to_literal(popped[1]) == "f32[2] 3 4");
  CHECK(stacked(popped[0]) == "f32[1,2] 1 2");
  CHECK(stacked(list) == "f32[2,2] 1 2 3 4");
  CHECK(text("TensorListGetItem", {list, lit("i32[] 1"), lit("i32[1] 2")}, of_floats) ==
        "f32[2] 3 4");
  CHECK(error("TensorListPopBack", {empty("i32[] -1"), lit("i32[] -1")}, of_floats) ==
        "Trying to pop from an empty list.");
}

TEST_CASE_FIXTURE(Lists, "lists: every dtype is held and stacked") {
  for (const char* text :
       {"f64[2] 1 2", "i64[2] 1 2", "u8[2] 1 2", "bool[2] true false", "f16[2] 1 2", "bf16[2] 1 2",
        "c64[2] (1,2) (3,4)", "c128[1] (1,2)", "str[2] \"a\" \"a text that has memory of its own\"",
        "qi8[1] 3", "u64[2] 1 2", "resource[1] (\"d\",\"c\",\"n\",1,\"t\")"}) {
    const Tensor item = lit(text);
    Tensor list = push(empty("i32[] -1", -1, item.dtype()), item);
    const Tensor out =
        run("TensorListStack", {list, lit("i32[] -1")}, {{"element_dtype", item.dtype()}});
    CHECK(equal(out, item.reshaped(Shape{1, item.num_elements()})));
  }
}

TEST_CASE_FIXTURE(Lists, "lists: a list that only its op holds is changed where it is") {
  Tensor list = reserved("i32[0]", 3);
  const auto* before = list.data<Variant>()[0].value.get();
  for (int i = 0; i < 3; ++i)
    list = set(std::move(list), i, Tensor::scalar<float>(static_cast<float>(i)));
  list = push(std::move(list), lit("f32[] 7"));
  CHECK(list.data<Variant>()[0].value.get() == before);
  const Tensor kept = list;
  list = push(std::move(list), lit("f32[] 8"));
  CHECK(list.data<Variant>()[0].value.get() != before);
  CHECK(stacked(kept) == "f32[4] 0 1 2 7");
  CHECK(stacked(list) == "f32[5] 0 1 2 7 8");
}

TEST_CASE_FIXTURE(Lists, "lists: pushing many elements is linear: no push copies") {
  Tensor list = empty("i32[0]");
  const auto* value = list.data<Variant>()[0].value.get();
  const KernelNode node =
      *bind_kernel(op_library().kernels, "push", *op_library().ops.find("TensorListPushBack"),
                   {{"element_dtype", DType::float32}}, device.device());
  const Tensor item = lit("f32[] 1");
  for (int i = 0; i < 200'000; ++i) {
    std::vector<Entry> inputs(2);
    inputs[0].tensor = std::move(list);
    inputs[1].tensor = item;
    auto out = troupe::testing::run_kernel(node, device.step(), std::move(inputs), {});
    REQUIRE(out.ok());
    list = std::move((*out)[0].tensor);
    REQUIRE(list.data<Variant>()[0].value.get() == value);
  }
  CHECK(text("TensorListLength", {list}) == "i32[] 200000");
}

TEST_CASE_FIXTURE(Lists, "lists: elements that nobody has set are zeros of the others' shape") {
  Tensor list = set(reserved("i32[] -1", 3), 1, lit("f32[2] 5 6"));
  CHECK(stacked(list) == "f32[3,2] 0 0 5 6 0 0");
  CHECK(text("TensorListGetItem", {list, lit("i32[] 2"), lit("i32[] -1")}, of_floats) ==
        "f32[2] 0 0");
  CHECK(text("TensorListGather", {list, lit("i32[2] 2 1"), lit("i32[1] -1")}, of_floats) ==
        "f32[2,2] 0 0 5 6");
  CHECK(error("TensorListPopBack", {list, lit("i32[] -1")}, of_floats) ==
        "Trying to read an uninitialized tensor but element_shape is not fully "
        "defined.<unknown>");
  CHECK(to_literal(run_all("TensorListPopBack", {list, lit("i32[1] 2")}, of_floats)[1]) ==
        "f32[2] 0 0");
  CHECK(error("TensorListStack", {reserved("i32[1] -1", 2), lit("i32[] -1")}, of_floats) ==
        "Tried to stack list which only contains uninitialized tensors and has a "
        "non-fully-defined element_shape: [?]");
  CHECK(stacked(reserved("i32[] -1", 2, DType::string), "i32[1] 1", DType::string) ==
        "str[2,1] \"\" \"\"");
}

TEST_CASE_FIXTURE(Lists, "lists: rows of a tensor make a list, whole, scattered or split") {
  CHECK(stacked(from("f32[3,2] 1 2 3 4 5 6", "i32[1] 2")) == "f32[3,2] 1 2 3 4 5 6");
  CHECK(stacked(from("f32[0,2]", "i32[1] 2")) == "f32[0,2]");
  CHECK(stacked(from("f32[2,0]", "i32[1] 0")) == "f32[2,0]");
  const Tensor scattered = run(
      "TensorListScatterV2", {lit("f32[2] 1 2"), lit("i32[2] 3 0"), lit("i32[0]"), lit("i32[] 5")});
  CHECK(stacked(scattered) == "f32[5] 2 0 0 1 0");
  CHECK(stacked(run("TensorListScatter", {lit("f32[2] 1 2"), lit("i32[2] 2 0"), lit("i32[0]")})) ==
        "f32[3] 2 0 1");
  CHECK(stacked(run("TensorListScatterIntoExistingList",
                    {scattered, lit("f32[2] 8 9"), lit("i32[2] 6 1")})) == "f32[7] 2 9 0 1 0 0 8");
  const Tensor split =
      run("TensorListSplit", {lit("f32[3,1] 1 2 3"), lit("i32[2] -1 1"), lit("i64[3] 1 0 2")});
  CHECK(text("TensorListLength", {split}) == "i32[] 3");
  CHECK(text("TensorListGetItem", {split, lit("i32[] 2"), lit("i32[] -1")}, of_floats) ==
        "f32[2,1] 2 3");
  const auto joined =
      run_all("TensorListConcatV2", {split, lit("i32[2] -1 1"), lit("i64[0]")}, of_floats);
  CHECK(to_literal(joined[0]) == "f32[3,1] 1 2 3");
  CHECK(to_literal(joined[1]) == "i64[3] 1 0 2");
  CHECK(text("TensorListConcat", {split}, of_floats) == "f32[3,1] 1 2 3");
}

TEST_CASE_FIXTURE(Lists, "lists: large rows are not copied") {
  const Tensor rows = Tensor::zeros(DType::float32, Shape{4, 1024});
  const Tensor list = run("TensorListFromTensor", {rows, lit("i32[1] 1024")});
  const Tensor row = run("TensorListGetItem", {list, lit("i32[] 2"), lit("i32[] -1")}, of_floats);
  CHECK(row.shares_buffer_with(rows));
}

TEST_CASE_FIXTURE(Lists, "lists: unset elements are concatenated with the lengths that are given") {
  const Tensor list = set(reserved("i32[1] -1", 3), 1, lit("f32[1] 5"));
  const auto out =
      run_all("TensorListConcatV2", {list, lit("i32[1] -1"), lit("i64[3] 2 9 1")}, of_floats);
  CHECK(to_literal(out[0]) == "f32[4] 0 0 5 0");
  CHECK(to_literal(out[1]) == "i64[3] 2 1 1");
  CHECK(text("TensorListConcatV2", {list, lit("i32[1] -1"), lit("i64[0]")}, of_floats) ==
        "f32[3] 0 5 0");
  const Tensor two = set(set(reserved("i32[1] -1", 3), 0, lit("f32[1] 5")), 1, lit("f32[2] 6 7"));
  CHECK(error("TensorListConcatV2", {two, lit("i32[1] -1"), lit("i64[2] 1 2")}, of_floats) ==
        "List contains uninitialized tensor at index 2 but leading_dims has only 2 elements.");
  CHECK(error("TensorListConcatV2", {two, lit("i32[1] -1"), lit("i64[3] 1 2 -1")}, of_floats)
            .starts_with("leading_dims must not be negative"));
  CHECK(error("TensorListConcat", {two}, of_floats).starts_with("Concating lists with"));
}

TEST_CASE_FIXTURE(Lists, "lists: resized, they lose their end or gain elements that are not set") {
  const Tensor list = from("f32[2] 1 2", "i32[0]");
  CHECK(stacked(run("TensorListResize", {list, lit("i32[] 1")})) == "f32[1] 1");
  CHECK(stacked(run("TensorListResize", {list, lit("i32[] 3")})) == "f32[3] 1 2 0");
  CHECK(error("TensorListResize", {list, lit("i32[] -1")}) ==
        "TensorListSlice expects size to be non-negative. Got: -1");
  CHECK(stacked(run("TensorListSetItem", {list, lit("i32[] 3"), lit("f32[] 4")},
                    {{"resize_if_index_out_of_bounds", true}})) == "f32[4] 1 2 0 4");
}

TEST_CASE_FIXTURE(Lists, "lists: their element shape is a vector, or -1") {
  CHECK(text("TensorListElementShape", {empty("i32[2] -1 3")}, {{"shape_type", DType::int64}}) ==
        "i64[2] -1 3");
  CHECK(text("TensorListElementShape", {empty("i64[] -1")}, {{"shape_type", DType::int32}}) ==
        "i32[] -1");
}

TEST_CASE_FIXTURE(Lists, "lists: tensors of lists grow together") {
  const Tensor a = from("f32[2] 1 2", "i32[0]"), b = from("f32[1] 3", "i32[0]");
  CHECK(stacked(run("TensorListConcatLists", {a, b}, of_floats)) == "f32[3] 1 2 3");
  CHECK(stacked(run("TensorListConcatLists", {a, a}, of_floats)) == "f32[4] 1 2 1 2");
  CHECK(stacked(a) == "f32[2] 1 2");
  const Tensor both = run("Pack", {a, b});
  const auto longer = run_all("Unpack", {run("TensorListPushBackBatch", {both, lit("f32[2] 8 9")})},
                              {{"num", std::int64_t{2}}});
  CHECK(stacked(longer[0]) == "f32[3] 1 2 8");
  CHECK(stacked(longer[1]) == "f32[2] 3 9");
  CHECK(error("TensorListConcatLists", {a, lit("variant[] (\"x\",\"\")")}, of_floats) ==
        "input_b is not a TensorList at index 0.  Saw: 'x'");
}

TEST_CASE_FIXTURE(Lists, "lists: sums add elements, zeros keep what is not set") {
  const Tensor a = set(set(reserved("i32[] -1", 3), 0, lit("f32[2] 1 2")), 1, lit("f32[] 9"));
  const Tensor b = set(reserved("i32[] -1", 3), 0, lit("f32[2] 10 20"));
  const Tensor sum = run("AddN", {a, b, b});
  CHECK(text("TensorListGetItem", {sum, lit("i32[] 0"), lit("i32[] -1")}, of_floats) ==
        "f32[2] 21 42");
  CHECK(text("TensorListGetItem", {sum, lit("i32[] 1"), lit("i32[] -1")}, of_floats) == "f32[] 9");
  const Tensor zeros = run("ZerosLike", {a});
  CHECK(text("TensorListGetItem", {zeros, lit("i32[] 0"), lit("i32[] -1")}, of_floats) ==
        "f32[2] 0 0");
  CHECK(text("TensorListGetItem", {zeros, lit("i32[] 2"), lit("i32[1] 3")}, of_floats) ==
        "f32[3] 0 0 0");
  CHECK(error("AddN", {a, reserved("i32[] -1", 2)}) ==
        "Trying to add two lists of tensors with different lengths. One is 3 and the other is 2");
  CHECK(error("AddN", {a, reserved("i32[] -1", 3, DType::int32)})
            .starts_with("Trying to add two lists of tensors of different dtypes."));
}

TEST_CASE_FIXTURE(Lists, "lists: they cross a wire in TensorFlow's form and are lists again") {
  Tensor list = set(reserved("i32[1] -1", 3), 1, lit("f32[2] 5 6"));
  list = push(empty("i32[0]", 9, DType::variant), list);
  const Tensor inner = run("TensorListGetItem", {as_read(list), lit("i32[] 0"), lit("i32[0]")},
                           {{"element_dtype", DType::variant}});
  CHECK(stacked(inner) == "f32[3,2] 0 0 5 6 0 0");
  CHECK(stacked(push(as_read(from("f32[1] 1", "i32[0]")), lit("f32[] 2"))) == "f32[2] 1 2");
  const Variant form = list.data<Variant>()[0];
  CHECK(parts_of(form)->metadata == std::string("\x00\x15\x09", 3)); // none unset, variant, 9, []
  for (const char* metadata : {"\\x05", "\\x00\\x63\\x00", "\\x00\\x01\\x00\\x12\\x05"})
    CHECK(error("TensorListLength", {lit("variant[] (\"tensorflow::TensorList\",\"" +
                                         std::string(metadata) + "\")")}) ==
          "the bytes of a variant of type 'tensorflow::TensorList' make no list");
}

TEST_CASE_FIXTURE(Lists, "lists: lists in lists end at a depth") {
  Tensor list = empty("i32[] -1");
  std::string refused;
  for (int i = 0; i < 100 && refused.empty(); ++i) {
    auto deeper = try_run("TensorListPushBack", {empty("i32[] -1", -1, DType::variant), list});
    if (deeper.ok())
      list = (*deeper)[0];
    else
      refused = deeper.status().message();
  }
  CHECK(refused == "variants are nested more than 32 levels deep");
}

TEST_CASE_FIXTURE(Lists, "lists: what does not fit is refused in TensorFlow's words") {
  const Tensor list = from("f32[2] 1 2", "i32[0]");
  CHECK(error("TensorListPushBack", {list, lit("f32[1] 1")}) ==
        "Tried to append a tensor with incompatible shape to a list. Op element shape: [1] list "
        "shape: []");
  CHECK(error("TensorListPushBack", {list, lit("i32[] 1")}) ==
        "Invalid data types; op elements int32 but list elements float");
  CHECK(error("TensorListPushBack", {push(empty("i32[0]", 1), lit("f32[] 1")), lit("f32[] 1")}) ==
        "Tried to push item into a full list list size: 1 max_num_elements: 1");
  CHECK(error("TensorListGetItem", {list, lit("i32[] 2"), lit("i32[0]")}, of_floats) ==
        "Trying to access element 2 in a list with 2 elements.");
  CHECK(error("TensorListGetItem", {list, lit("i32[] -1"), lit("i32[0]")}, of_floats) ==
        "Trying to access element -1 in a list with 2 elements.");
  CHECK(error("TensorListSetItem", {list, lit("i32[] 2"), lit("f32[] 1")}) ==
        "Trying to modify element 2 in a list with 2 elements.");
  CHECK(error("TensorListSetItem", {list, lit("i32[] 0"), lit("f32[3] 1")}) ==
        "Tried to set a tensor with incompatible shape at a list index. Item element shape: [3] "
        "list shape: []");
  CHECK(error("TensorListStack", {list, lit("i32[1] 2")}, of_floats) ==
        "PartialTensorShape: Incompatible ranks during merge: 1 vs. 0");
  CHECK(error("TensorListStack", {list, lit("i32[0]")},
              {{"element_dtype", DType::float32}, {"num_elements", std::int64_t{3}}}) ==
        "Operation expected a list with 3 elements but got a list with 2 elements.");
  CHECK(error("TensorListStack", {list, lit("i32[0]")}, {{"element_dtype", DType::int32}}) ==
        "Invalid data types; op elements int32 but list elements float");
  CHECK(error("TensorListStack", {empty("i32[] -1"), lit("i32[] -1")}, of_floats) ==
        "Tried to stack elements of an empty list with non-fully-defined element_shape: <unknown>");
  CHECK(error("TensorListGather", {list, lit("i32[1] 2"), lit("i32[0]")}, of_floats) ==
        "Index 2 out o range; list only has 2 elements.");
  CHECK(error("TensorListFromTensor", {lit("f32[] 1"), lit("i32[0]")}) ==
        "Tensor must be at least a vector, but saw shape: []");
  CHECK(error("TensorListFromTensor", {lit("f32[2] 1 2"), lit("i32[1] 2")}) ==
        "Specified a list with shape [2] from a tensor with shape []");
  CHECK(error("TensorListSplit", {lit("f32[2] 1 2"), lit("i32[1] -1"), lit("i64[1] 1")}) ==
        "Unused values in tensor. Length of tensor: 2 Values used: 1");
  CHECK(error("TensorListSplit", {lit("f32[2] 1 2"), lit("i32[1] -1"), lit("i64[2] 1 2")}) ==
        "Attempting to slice [1, 3] from tensor with length 2");
  CHECK(error("TensorListSplit", {lit("f32[2] 1 2"), lit("i32[1] -1"), lit("i64[1] -1")}) ==
        "Invalid value in lengths: -1");
  CHECK(error("TensorListScatterV2",
              {lit("f32[1] 1"), lit("i32[1] 3"), lit("i32[0]"), lit("i32[] 2")}) ==
        "TensorListScatter: Trying to scatter at index 3 in list with size 2");
  CHECK(error("TensorListScatter", {lit("f32[1] 1"), lit("i32[1] -3"), lit("i32[0]")}) ==
        "Indices in TensorListScatter must all be non-negative.");
  CHECK(error("TensorListReserve", {lit("i32[0]"), lit("i32[] -1")}, of_floats) ==
        "The num_elements to reserve must be a non negative number, but got -1");
  CHECK(error("EmptyTensorList", {lit("i32[] 3"), lit("i32[] -1")}, of_floats) ==
        "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  CHECK(error("TensorListLength", {lit("variant[] (\"x\",\"\")")}) ==
        "Input handle is not a list. Saw: 'x'");
  CHECK(error("TensorListLength", {run("Pack", {list, list})}) ==
        "Input list must be a scalar saw: [2]");
}

TEST_CASE("variants: numbers are added, and shown as text") {
  OpRunner ops;
  const auto number = [](const std::string& type, auto value) {
    VariantParts parts;
    parts.metadata.assign(reinterpret_cast<const char*>(&value), sizeof value);
    return Tensor::scalar(make_variant(type, std::move(parts)));
  };
  const auto text = [&](const Tensor& variant) { return ops.text("AsString", {variant}); };
  const Attrs two{{"N", std::int64_t{2}}};
  for (const auto& [x, sum, zero] : {std::tuple{number("int", 3), "6", "0"},
                                     {number("float", 0.5F), "1", "0"},
                                     {number("double", 0.25), "0.5", "0"},
                                     {number("bool", true), "1", "0"}}) {
    const std::string type = x.data<Variant>()[0].type_name;
    const auto shown = [&](const char* value) {
      return str_cat("str[] \"Variant<type: ", type, " value: ", value, ">\"");
    };
    CHECK(text(ops.run("AddN", {x, x}, two)) == shown(sum));
    CHECK(text(ops.run("ZerosLike", {x})) == shown(zero));
  }
  CHECK(ops.error("ZerosLike", {number("int", 'c')}) ==
        "No unary variant unary_op function found for op ZEROS_LIKE Variant type_name: int for "
        "device type: CPU");
  CHECK(text(number("long", 1L)) == "str[] \"Variant<type: long value: ?>\"");
  CHECK(text(Tensor::scalar(Variant())) == "str[] \"Variant<type:  value: [empty]>\"");
  CHECK(text(ops.run("EmptyTensorList", {lit("i32[] -1"), lit("i32[] 1")},
                     {{"element_dtype", DType::float32}})) ==
        "str[] \"Variant<type: tensorflow::TensorList value: TensorList>\"");
}

} // namespace
} // namespace troupe

// Any op with any attrs and inputs that its schema allows: its shape function and its CPU kernel
// refuse or compute, and agree about the shapes. The input's bytes choose, one after the other.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "graph/op/infer.hpp"
#include "tests/fuzz/one_kernel.hpp"

namespace troupe {
namespace {

// Choices; zeros when the bytes are used up.
class Choices {
public:
  Choices(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  std::size_t below(std::size_t n) {
    std::size_t out = byte();
    if (n > 256)
      out = out << 8 | byte();
    return out % n;
  }
  template <class T, std::size_t n>
  T of(const T (&values)[n]) {
    return values[below(n)];
  }

private:
  std::uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

constexpr std::int64_t whole_numbers[] = {0,
                                          1,
                                          2,
                                          3,
                                          -1,
                                          -2,
                                          4,
                                          5,
                                          7,
                                          100,
                                          -100,
                                          1 << 20,
                                          std::numeric_limits<std::int32_t>::max(),
                                          std::numeric_limits<std::int32_t>::min(),
                                          std::int64_t{1} << 40,
                                          std::numeric_limits<std::int64_t>::max(),
                                          std::numeric_limits<std::int64_t>::min()};
const char* const reals[] = {"1", "0", "-1", "2.5", "-0", "0.5", "inf", "-inf", "nan", "1e30", "3"};
constexpr DType dtypes[] = {DType::float32, DType::int32,    DType::int64,  DType::float64,
                            DType::bool_,   DType::string,   DType::uint8,  DType::float16,
                            DType::int8,    DType::bfloat16, DType::uint64, DType::complex64};

std::int64_t small(Choices& choices) {
  return choices.of({1, 2, 3, 0, 4, -1});
}

Shape shape(Choices& choices) {
  std::vector<std::int64_t> dims(choices.below(6));
  for (std::int64_t& dim : dims)
    dim = choices.of({2, 1, 3, 0, 4});
  return *Shape::make(dims);
}

// Text of one element, or an empty one for a dtype that has no literals here.
std::string element(Choices& choices, DType dtype) {
  switch (dtype) {
  case DType::string:
    return choices.of({"\"\"", "\"a\"", "\"bc\""});
  case DType::bool_:
    return choices.of({"true", "false"});
  case DType::complex64:
  case DType::complex128:
    return "(1,-2)";
  case DType::float16:
  case DType::bfloat16:
  case DType::float32:
  case DType::float64:
    return choices.of(reals);
  default:
    return str_cat(choices.below(4) == 0 ? choices.of(whole_numbers) : small(choices));
  }
}

Tensor tensor(Choices& choices, DType dtype) {
  Shape dims = shape(choices);
  std::string text = str_cat(to_literal(Tensor::zeros(dtype, Shape{0})));
  text = str_cat(text.substr(0, text.find('[')), dims.to_string());
  for (std::int64_t i = 0; i < dims.num_elements(); ++i)
    str_append(text, " ", element(choices, dtype));
  auto parsed = parse_literal(text);
  return parsed.ok() ? *std::move(parsed) : Tensor::zeros(dtype, dims); // out of its range
}

DType dtype(Choices& choices, const AttrDef& def) {
  if (def.allowed.empty())
    return choices.of(dtypes);
  const auto* chosen = std::get_if<DType>(&def.allowed[choices.below(def.allowed.size())]);
  return chosen ? *chosen : DType::float32;
}

AttrValue attr(Choices& choices, const AttrDef& def) {
  std::size_t count = choices.below(6);
  auto list = [&]<class T>(T, auto make) -> AttrValue {
    std::vector<T> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(make());
    return out;
  };
  auto integer = [&]() -> std::int64_t {
    return choices.below(3) == 0 ? choices.of(whole_numbers) : small(choices);
  };
  auto text = [&]() -> std::string {
    if (!def.allowed.empty())
      if (auto* s = std::get_if<std::string>(&def.allowed[choices.below(def.allowed.size())]))
        return *s;
    return choices.of({"", "a", "loc:@x"});
  };
  auto real = [&]() -> float { return std::strtof(choices.of(reals), nullptr); };
  auto partial = [&]() -> PartialShape {
    if (choices.below(4) == 0)
      return {};
    std::vector<std::int64_t> dims(choices.below(4));
    for (std::int64_t& dim : dims)
      dim = choices.of({2, -1, 0, 1, 3});
    return PartialShape(dims);
  };
  switch (def.type.kind) {
  case AttrKind::integer:
    return def.type.list ? list(std::int64_t{}, integer) : AttrValue(integer());
  case AttrKind::string:
    return def.type.list ? list(std::string{}, text) : AttrValue(text());
  case AttrKind::real:
    return def.type.list ? list(float{}, real) : AttrValue(real());
  case AttrKind::boolean:
    return choices.below(2) == 1;
  case AttrKind::type:
    return def.type.list ? list(DType{}, [&] { return dtype(choices, def); })
                         : AttrValue(dtype(choices, def));
  case AttrKind::shape:
    return def.type.list ? list(PartialShape{}, partial) : AttrValue(partial());
  case AttrKind::tensor:
    return TensorBox{tensor(choices, choices.of(dtypes))};
  default:
    return {};
  }
}

// Ops that wait for somebody else, and those whose inputs are not values.
bool is_left_out(const OpSchema& op) {
  static constexpr std::string_view waits[] = {"_Recv",     "_Send", "_HostRecv",
                                               "_HostSend", "_Arg",  "_Retval"};
  return std::find(std::begin(waits), std::end(waits), op.name) != std::end(waits) ||
         std::any_of(op.inputs.begin(), op.inputs.end(),
                     [](const ArgDef& arg) { return arg.is_ref; });
}

void run(Choices& choices, const OpSchema& op, bool is_told) {
  AttrMap attrs;
  for (const AttrDef& def : op.attrs)
    if (!def.default_value || choices.below(2) == 1)
      attrs.set(def.name, attr(choices, def));
  if (!complete_and_check_attrs(op, attrs).ok())
    return;
  auto types = resolve_types(op, attrs);
  if (!types.ok() || types->inputs.size() > 8 || types->outputs.size() > 64)
    return;
  std::vector<Entry> inputs;
  std::vector<PartialShape> shapes;
  std::vector<Tensor> values;
  std::string call = op.name;
  for (const auto& [name, value] : attrs)
    str_append(call, " ", name, "=", to_string(value));
  for (DType type : types->inputs) {
    if (type == DType::resource || type == DType::variant)
      return;
    Tensor value = tensor(choices, type);
    str_append(call, " (", to_literal(value, 40), ")");
    shapes.emplace_back(value.shape());
    values.push_back(value);
    inputs.push_back({std::move(value), nullptr});
  }
  if (is_told)
    std::cerr << call << std::endl;
  auto inferred = infer_shapes(op, attrs, shapes, values);

  static Bench bench;
  OneStep step(*bench.device);
  auto node = bind_kernel(op_library().kernels, "node", op, attrs, *bench.device);
  if (!node.ok() || !node->kernel->compute)
    return;
  std::vector<Entry> outputs(types->outputs.size());
  KernelContext context(*node, step.environment, inputs, outputs);
  Status status = node->kernel->compute(context);
  if (!status.ok()) {
    TROUPE_CHECK(!status.message().empty(), "a refusal says why");
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].tensor.has_value())
      continue; // a dead end of a Switch, or a reference
    const Tensor& out = outputs[i].tensor;
    // A shape function may refuse what the kernel would take: then no such node comes into a graph.
    bool agrees = !inferred.ok() || (*inferred)[i].is_compatible_with(PartialShape(out.shape()));
    if (!agrees)
      std::cerr << call << "\n  computes " << out.shape().to_string()
                << ", the shape function says "
                << (inferred.ok() ? (*inferred)[i].to_string() : inferred.status().to_string())
                << std::endl;
    TROUPE_CHECK(out.dtype() == remove_ref(types->outputs[i]), "an output has its declared dtype");
    TROUPE_CHECK(agrees, "shape function and kernel agree");
  }
}

} // namespace
} // namespace troupe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  static const std::vector<const OpSchema*> ops = [] {
    auto all = op_library().ops.all();
    std::erase_if(all, [](const OpSchema* op) { return is_left_out(*op); });
    return all;
  }();
  static const bool is_told = std::getenv("FUZZ_TELL") != nullptr; // each call before it is made
  Choices choices(data, size);
  run(choices, *ops[choices.below(ops.size() < 257 ? 257 : ops.size()) % ops.size()], is_told);
  return 0;
}

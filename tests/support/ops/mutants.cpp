#include "tests/support/ops/internal/mutants.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "graph/op/infer.hpp"
#include "tests/support/ops/compare.hpp"

namespace troupe::testing {
namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;

constexpr int mutants_by_default = 3;

/// What prints, sleeps, or names files by what it is given.
bool is_left_out(const OpSchema& schema) {
  static const std::set<std::string_view> names = {"Print",
                                                   "PrintV2",
                                                   "WriteFile",
                                                   "Save",
                                                   "SaveSlices",
                                                   "SaveV2",
                                                   "MergeV2Checkpoints",
                                                   "ShardedFilename",
                                                   "Abort",
                                                   "_Refusal",
                                                   "DebugIdentity",
                                                   "DebugNanCount",
                                                   "DebugNumericSummary",
                                                   "SleepOp",
                                                   "SleepIdentityOp"};
  return names.contains(schema.name);
}

/// What does not look whether its inputs have the shape that an attribute claims, as TensorFlow's
/// does not.
bool repeats_a_claim(const OpSchema& schema) {
  return schema.name == "AccumulateNV2";
}

class Mutator {
public:
  explicit Mutator(std::uint64_t seed) : source_(seed) {}

  /// Changes one thing of the row.
  void change(std::vector<CaseInput>& inputs, Attrs& attrs, const OpSchema& schema) {
    const std::size_t things = inputs.size() * 3 + schema.attrs.size();
    if (things == 0)
      return;
    const std::size_t thing = below(things);
    if (thing >= inputs.size() * 3)
      return change_attr(attrs, schema.attrs[thing - inputs.size() * 3]);
    CaseInput& input = inputs[thing / 3];
    if (!input.value.has_value())
      return;
    if (below(24) == 0 && input.kind != CaseInput::Kind::value)
      input.value = Tensor(); // a variable that nobody has assigned
    else if (below(12) == 0)
      change_dtype(inputs, input.dtype);
    else if (below(2) == 0)
      input.value = with_other_shape(input.value);
    else
      change_elements(input.value);
  }

private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(source_() % n); }
  template <class T, std::size_t n>
  T of(const T (&values)[n]) {
    return values[below(n)];
  }

  std::int64_t integer() {
    if (below(2) == 0)
      return static_cast<std::int64_t>(below(7)) - 2;
    constexpr auto least = std::numeric_limits<std::int64_t>::min(),
                   most = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t known[] = {7,
                                      8,
                                      16,
                                      100,
                                      -100,
                                      127,
                                      128,
                                      255,
                                      256,
                                      1000,
                                      65535,
                                      1 << 20,
                                      2147483647,
                                      -2147483648LL,
                                      1LL << 31,
                                      1LL << 32,
                                      (1LL << 32) + 1,
                                      1LL << 40,
                                      most,
                                      most - 1,
                                      least,
                                      least + 1};
    return of(known);
  }
  double real() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double known[] = {
        0,     -0.0,         1,     -1,       0.5,       2.5,
        1e-40, 1e30,         -1e30, 3e38,     1e300,     5e-324,
        1e9,   2147483648.0, -1e19, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
    return of(known);
  }
  std::string text(std::string was) {
    switch (below(7)) {
    case 0:
      return "";
    case 1:
      return was.substr(0, below(was.size() + 1));
    case 2:
      return was + was;
    case 3:
      return std::string(below(5), '\0') + was;
    case 4:
      return std::string(of({1, 2, 63, 64, 1000}), of({'a', '-', '9', '\xff', '%', '('}));
    default:
      for (std::size_t changes = below(4) + 1; changes > 0 && !was.empty(); --changes)
        was[below(was.size())] = static_cast<char>(below(256));
      return was;
    }
  }

  void change_elements(Tensor& value) {
    value = value.deep_copy();
    const auto count = static_cast<std::size_t>(value.num_elements());
    if (count == 0)
      return;
    std::size_t begin = below(count), end = begin + 1;
    if (below(6) == 0)
      begin = 0, end = count;
    if (value.dtype() == DType::string) {
      for (std::size_t i = begin; i < end; ++i)
        value.mutable_data<std::string>()[i] = text(value.data<std::string>()[i]);
      return;
    }
    if (is_integer(value.dtype()) || value.dtype() == DType::bool_) {
      const std::int64_t number = integer();
      for (std::size_t i = begin; i < end; ++i)
        set_integer(value, i, number);
    } else if (is_complex(value.dtype())) {
      set_part(value, 2 * begin + below(2), real());
    } else if (auto numbers = to_doubles(value); numbers.ok()) {
      const double number = real();
      std::fill(numbers->begin() + static_cast<std::ptrdiff_t>(begin),
                numbers->begin() + static_cast<std::ptrdiff_t>(end), number);
      value = from_doubles(value.dtype(), value.shape(), *numbers);
    }
  }

  /// Its low bytes.
  static void set_integer(Tensor& value, std::size_t i, std::int64_t number) {
    const std::size_t size = dtype_size(value.dtype());
    const std::int64_t kept = value.dtype() == DType::bool_ ? number & 1 : number;
    std::memcpy(static_cast<std::byte*>(value.mutable_raw()) + i * size, &kept, size);
  }
  /// A real or imaginary part.
  static void set_part(Tensor& value, std::size_t i, double number) {
    if (value.dtype() == DType::complex128)
      static_cast<double*>(value.mutable_raw())[i] = number;
    else
      static_cast<float*>(value.mutable_raw())[i] = static_cast<float>(number);
  }

  /// The elements again and again in a shape that is a little other, or in quite another.
  Tensor with_other_shape(const Tensor& value) {
    std::vector<std::int64_t> dims(value.shape().dims().begin(), value.shape().dims().end());
    const std::size_t rank = dims.size();
    const auto at =
        rank == 0 ? dims.end() : dims.begin() + static_cast<std::ptrdiff_t>(below(rank));
    constexpr std::int64_t sizes[] = {0, 1, 2, 3, 5, 17};
    switch (below(8)) {
    case 0:
      dims.insert(at, of(sizes));
      break;
    case 1:
      if (rank > 0)
        dims.erase(at);
      break;
    case 2:
      dims.clear();
      break;
    case 3:
      dims = {of(sizes)};
      break;
    case 4:
      if (rank > 0)
        *at += 1;
      break;
    case 5:
      if (rank > 0 && *at > 0)
        *at -= 1;
      break;
    case 6:
      if (rank > 0)
        *at = of(sizes);
      break;
    default:
      dims.resize(below(4) == 0 ? below(10) : rank, 1);
      if (dims.size() > 1)
        std::swap(dims.front(), dims.back());
    }
    auto shape = Shape::make(dims);
    if (!shape.ok() || shape->num_elements() > (1 << 20))
      return value;
    Tensor out = Tensor::zeros(value.dtype(), *shape);
    const auto count = static_cast<std::size_t>(value.num_elements());
    if (count == 0)
      return out;
    const std::size_t size = dtype_size(value.dtype());
    for (std::size_t i = 0; i < static_cast<std::size_t>(out.num_elements()); ++i)
      if (value.dtype() == DType::string)
        out.mutable_data<std::string>()[i] = value.data<std::string>()[i % count];
      else if (!is_object(value.dtype()))
        std::memcpy(static_cast<std::byte*>(out.mutable_raw()) + i * size,
                    static_cast<const std::byte*>(value.raw()) + i % count * size, size);
    return out;
  }

  /// All inputs of one dtype get another which the op may have or not.
  void change_dtype(std::vector<CaseInput>& inputs, DType from) {
    constexpr DType others[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                                DType::int32,   DType::int64,   DType::int8,    DType::uint8,
                                DType::int16,   DType::uint64,  DType::bool_,   DType::complex64};
    const DType to = of(others);
    for (CaseInput& input : inputs) {
      if (input.dtype != from)
        continue;
      if (input.value.has_value()) {
        auto numbers = to_doubles(input.value);
        if (!numbers.ok())
          return;
        input.value = of_numbers(to, input.value.shape(), *numbers);
      }
      input.dtype = to;
    }
  }
  static Tensor of_numbers(DType dtype, const Shape& shape, const std::vector<double>& numbers) {
    if (!is_integer(dtype) && !is_complex(dtype) && dtype != DType::bool_)
      return from_doubles(dtype, shape, numbers);
    Tensor out = Tensor::zeros(dtype, shape);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (is_complex(dtype))
        set_part(out, 2 * i, numbers[i]);
      else if (std::abs(numbers[i]) < 9e18)
        set_integer(out, i, static_cast<std::int64_t>(numbers[i]));
    return out;
  }

  void change_attr(Attrs& attrs, const AttrDef& def) {
    const auto found = std::find_if(attrs.begin(), attrs.end(),
                                    [&](const auto& attr) { return attr.first == def.name; });
    const AttrValue was = found != attrs.end() ? found->second
                          : def.default_value  ? *def.default_value
                                               : AttrValue();
    AttrValue now = other(was, def);
    if (std::holds_alternative<std::monostate>(now))
      return;
    if (found != attrs.end())
      found->second = std::move(now);
    else
      attrs.emplace_back(def.name, std::move(now));
  }

  AttrValue other(const AttrValue& was, const AttrDef& def) {
    if (def.type.list)
      return other_list(was, def);
    switch (def.type.kind) {
    case AttrKind::integer:
      return integer();
    case AttrKind::real:
      return static_cast<float>(real());
    case AttrKind::boolean:
      return below(2) == 0;
    case AttrKind::string: {
      if (!def.allowed.empty() && below(4) != 0)
        return def.allowed[below(def.allowed.size())];
      const auto* known = std::get_if<std::string>(&was);
      return text(known ? *known : "a");
    }
    case AttrKind::shape: {
      std::vector<std::int64_t> dims(below(5));
      for (std::int64_t& dim : dims)
        dim = below(4) == 0 ? -1 : std::max<std::int64_t>(integer(), -1);
      return below(6) == 0 ? PartialShape() : PartialShape(dims);
    }
    default:
      return {}; // dtypes come from the inputs
    }
  }

  template <class T>
  AttrValue other_items(const AttrValue& was, auto make) {
    const auto* known = std::get_if<std::vector<T>>(&was);
    std::vector<T> items = known ? *known : std::vector<T>();
    switch (below(5)) {
    case 0:
      items.push_back(make());
      break;
    case 1:
      if (!items.empty())
        items.pop_back();
      break;
    case 2:
      items.clear();
      break;
    default:
      if (!items.empty())
        items[below(items.size())] = make();
    }
    return items;
  }
  AttrValue other_list(const AttrValue& was, const AttrDef& def) {
    switch (def.type.kind) {
    case AttrKind::integer:
      return other_items<std::int64_t>(was, [&] { return integer(); });
    case AttrKind::real:
      return other_items<float>(was, [&] { return static_cast<float>(real()); });
    case AttrKind::string:
      return other_items<std::string>(was, [&] { return text("a"); });
    default:
      return {};
    }
  }

  std::mt19937_64 source_;
};

std::string described(const OpSchema& schema, const std::vector<CaseInput>& inputs,
                      const Attrs& attrs) {
  std::string out = schema.name;
  for (const auto& [name, value] : attrs)
    str_append(out, " ", name, "=", to_string(value));
  for (const CaseInput& input : inputs)
    str_append(out, " (", input.kind == CaseInput::Kind::value ? "" : "variable ",
               input.value.has_value() ? to_literal(input.value, 40) : "none", ")");
  return out;
}

/// Of inputs of which every other dimension is known, and every third rank is not.
Result<std::vector<PartialShape>>
infer_partly_known(const CaseNode& node, const std::vector<CaseInput>& inputs, std::size_t first) {
  std::vector<PartialShape> shapes(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].value.has_value() || (i + first) % 3 == 2)
      continue;
    const auto known = inputs[i].kind == CaseInput::Kind::resource ? std::span<const std::int64_t>()
                                                                   : inputs[i].value.shape().dims();
    std::vector<std::int64_t> dims(known.begin(), known.end());
    for (std::size_t d = first; d < dims.size(); d += 2)
      dims[d] = -1;
    shapes[i] = PartialShape(std::move(dims));
  }
  return infer_shapes(*node.schema, node.attrs, std::move(shapes),
                      std::vector<Tensor>(inputs.size()));
}

void run_one(const OpSchema& schema, const std::vector<CaseInput>& inputs, const Attrs& attrs,
             SaidShapes shapes) {
  auto node = make_case_node(schema, inputs, attrs);
  if (!node.ok())
    return;
  const std::vector<Result<std::vector<PartialShape>>> said = {
      infer_case_shapes(*node, inputs, true, true), infer_case_shapes(*node, inputs, true, false),
      infer_partly_known(*node, inputs, 0), infer_partly_known(*node, inputs, 1)};
  TestDevice device(make_small_device());
  auto bound = bind_kernel(op_library().kernels, "node", schema, node->attrs, device.device());
  if (!bound.ok()) {
    CHECK(!bound.status().message().empty());
    return;
  }
  // Long work looks at its step's deadline.
  device.step().cancellation->set_deadline(1, steady_micros(), 2'000'000);
  const std::vector<std::string> names(inputs.size(), "v");
  Result<std::vector<Entry>> outputs = std::vector<Entry>();
  try {
    outputs = run_kernel(*bound, device.step(), make_entries(inputs, device), names);
  } catch (const StepCancelled&) {
    return;
  }
  if (!outputs.ok()) {
    CHECK(!outputs.status().message().empty());
    CHECK_MESSAGE(outputs.status().message().find("has dtype") == std::string::npos,
                  outputs.status().to_string());
    return;
  }
  for (const auto& inferred : said)
    for (std::size_t i = 0; i < outputs->size() && inferred.ok() && shapes == SaidShapes::hold; ++i)
      if (const Tensor& value = (*outputs)[i].tensor; value.has_value())
        CHECK_MESSAGE((*inferred)[i].is_compatible_with(PartialShape(value.shape())), "output ", i,
                      ": inferred ", (*inferred)[i].to_string(), ", it is ",
                      value.shape().to_string());
}

} // namespace

int mutants_of_each_row() {
  static const char* const said = std::getenv("TROUPE_MUTANTS");
  static const int count = said ? std::atoi(said) : mutants_by_default;
  return count;
}

int mutants_of_each_graph() {
  return (mutants_of_each_row() + 2) / 3;
}

std::unique_ptr<Device> make_small_device() {
  static DeviceHost host{1, std::int64_t{64} << 20};
  static const auto devices = make_cpu_devices(host, "/job:localhost/replica:0/task:0", 1);
  return make_isolated_device(*devices[0]);
}

bool mutants_are_told() {
  static const bool told = std::getenv("TROUPE_TELL_MUTANTS") != nullptr;
  return told;
}

void run_mutants(const OpSchema& schema, std::string_view name,
                 const std::vector<CaseInput>& inputs, const Attrs& attrs, SaidShapes shapes) {
  if (is_left_out(schema))
    return;
  std::uint64_t seed = 14695981039346656037u;
  for (const std::string_view part : {std::string_view(schema.name), name})
    for (const char letter : part)
      seed = (seed ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  for (int i = 0; i < mutants_of_each_row(); ++i) {
    Mutator mutator(seed + static_cast<std::uint64_t>(i));
    auto changed = inputs;
    auto changed_attrs = attrs;
    for (int changes = 1 + i % 3; changes > 0; --changes)
      mutator.change(changed, changed_attrs, schema);
    const std::string what = described(schema, changed, changed_attrs);
    INFO("mutant ", i, ": ", what);
    if (mutants_are_told())
      std::cerr << what << std::endl;
    const auto since = std::chrono::steady_clock::now();
    run_one(schema, changed, changed_attrs, repeats_a_claim(schema) ? SaidShapes::repeat : shapes);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - since;
    if (mutants_are_told() && took.count() > 0.5)
      std::cerr << "SLOW " << took.count() << " s: " << what << std::endl;
  }
}

} // namespace troupe::testing

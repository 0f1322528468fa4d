#include "kernels/nn/internal/channels_first.hpp"

#include <array>
#include <vector>

#include "kernels/array/internal/elements.hpp"

namespace troupe::nn {
namespace {

using Order = std::array<int, 4>;
constexpr Order to_last = {0, 2, 3, 1}, to_first = {0, 3, 1, 2};

/// out[i] = from[order[i]], where there are four.
template <class T>
std::vector<T> permuted(const std::vector<T>& from, const Order& order) {
  if (from.size() != 4)
    return from;
  std::vector<T> out;
  for (int at : order)
    out.push_back(from[static_cast<std::size_t>(at)]);
  return out;
}

AttrMap in_channels_last(const AttrMap& attrs) {
  using Ints = std::vector<std::int64_t>;
  AttrMap out = attrs;
  out.set("data_format", std::string("NHWC"));
  for (const char* name : {"strides", "ksize", "dilations"})
    if (auto value = attrs.get<Ints>(name); value.ok())
      out.set(name, permuted(*value, to_last));
  if (auto pads = attrs.get<Ints>("explicit_paddings"); pads.ok() && pads->size() == 8) {
    Ints moved;
    for (int at : to_last)
      for (int side : {0, 1})
        moved.push_back((*pads)[static_cast<std::size_t>(2 * at + side)]);
    out.set("explicit_paddings", std::move(moved));
  }
  return out;
}

Shape permuted(const Shape& shape, const Order& order) {
  return Shape{shape[order[0]], shape[order[1]], shape[order[2]], shape[order[3]]};
}

Status transpose(KernelContext& c, const Tensor& from, const Order& order, Tensor& to) {
  if (from.num_elements() == 0)
    return {};
  arith::StridedPlan plan;
  if (!arith::make_transpose_plan(from.shape().dims(), order, plan))
    return array::too_many_dimensions(from.shape());
  return array::copy_from_strided(c, plan, from, to);
}

struct InChannelsLast {
  AttrMap attrs;
  std::shared_ptr<const void> prepared_by_kernel;
};

} // namespace

bool is_channels_first(const AttrMap& attrs) {
  const AttrValue* format = attrs.find("data_format");
  const auto* text = format ? std::get_if<std::string>(format) : nullptr;
  return text && *text == "NCHW";
}

Result<std::shared_ptr<const void>> prepare_channels_first(PrepareContext& c, PrepareFn prepare) {
  AttrMap attrs = in_channels_last(c.attrs());
  PrepareContext inner = c.with_attrs(attrs);
  TROUPE_ASSIGN(auto own, prepare(inner));
  return prepared(InChannelsLast{std::move(attrs), std::move(own)});
}

Status compute_channels_first(KernelContext& c, KernelFn compute, ImageArgs args) {
  const auto& kept = c.prepared<InChannelsLast>();
  std::vector<Entry> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const unsigned bit = 1U << i;
    Entry& entry = inputs.emplace_back(c.input_entry(i));
    const Tensor& given = c.input(i);
    if ((args.images & bit) && given.shape().rank() == 4) {
      TROUPE_ASSIGN(entry.tensor, c.allocate_temp(given.dtype(), permuted(given.shape(), to_last)));
      TROUPE_TRY(transpose(c, given, to_last, entry.tensor));
    } else if ((args.sizes & bit) && given.shape() == Shape{4}) {
      const auto sizes = given.data<std::int32_t>();
      entry.tensor = Tensor::of<std::int32_t>(
          {4}, permuted(std::vector<std::int32_t>(sizes.begin(), sizes.end()), to_last));
    }
  }
  const KernelNode& given = c.node();
  const KernelNode node{given.name, given.schema, given.kernel,
                        kept.attrs, given.io,     kept.prepared_by_kernel};
  std::array<Entry, 1> result;
  KernelContext inner(node, c.io(), c.step(), inputs, result);
  TROUPE_TRY(compute(inner));
  if (!args.makes_image)
    return c.set_output(0, std::move(result[0].tensor));
  const Tensor& made = result[0].tensor;
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, permuted(made.shape(), to_first)));
  return transpose(c, made, to_first, out);
}

} // namespace troupe::nn

#include "kernels/nn/internal/channels_first.hpp"

#include <vector>

#include "kernels/array/internal/elements.hpp"

namespace troupe::nn {
namespace {

enum class To { last, first };

// out[i] = from[order[i]]
std::vector<int> order_of(To to, std::size_t rank) {
  const int n = static_cast<int>(rank);
  std::vector<int> order{0};
  if (to == To::first)
    order.push_back(n - 1);
  for (int i = to == To::first ? 1 : 2; i < (to == To::first ? n - 1 : n); ++i)
    order.push_back(i);
  if (to == To::last)
    order.push_back(1);
  return order;
}

template <class T>
std::vector<T> permuted(const std::vector<T>& from, To to) {
  std::vector<T> out;
  for (int at : order_of(to, from.size()))
    out.push_back(from[static_cast<std::size_t>(at)]);
  return out;
}

std::string data_format(const AttrMap& attrs) {
  const AttrValue* format = attrs.find("data_format");
  const auto* text = format ? std::get_if<std::string>(format) : nullptr;
  return text ? *text : std::string();
}

std::size_t rank_of(const AttrMap& attrs) {
  return data_format(attrs).size();
}

AttrMap in_channels_last(const AttrMap& attrs) {
  using Ints = std::vector<std::int64_t>;
  const std::size_t rank = rank_of(attrs);
  AttrMap out = attrs;
  out.set("data_format", std::string(rank == 4 ? "NHWC" : "NDHWC"));
  for (const char* name : {"strides", "ksize", "dilations"})
    if (auto value = attrs.get<Ints>(name); value.ok() && value->size() == rank)
      out.set(name, permuted(*value, To::last));
  if (auto pads = attrs.get<Ints>("explicit_paddings"); pads.ok() && pads->size() == 2 * rank) {
    Ints moved;
    for (int at : order_of(To::last, rank))
      for (int side : {0, 1})
        moved.push_back((*pads)[static_cast<std::size_t>(2 * at + side)]);
    out.set("explicit_paddings", std::move(moved));
  }
  return out;
}

Result<Shape> permuted(const Shape& shape, To to) {
  return Shape::make(permuted(std::vector(shape.dims().begin(), shape.dims().end()), to));
}

Status transpose(KernelContext& c, const Tensor& from, To direction, Tensor& to) {
  if (from.num_elements() == 0)
    return {};
  arith::StridedPlan plan;
  if (!arith::make_transpose_plan(
          from.shape().dims(), order_of(direction, static_cast<std::size_t>(from.shape().rank())),
          plan))
    return array::too_many_dimensions(from.shape());
  return array::copy_from_strided(c, plan, from, to);
}

Status sizes_in_channels_last(const Tensor& given, Tensor& out) {
  return dispatch(Indices{}, given.dtype(), [&]<class T>() -> Status {
    const auto sizes = given.data<T>();
    const std::vector<T> moved = permuted(std::vector<T>(sizes.begin(), sizes.end()), To::last);
    out = Tensor::of<T>(given.shape(), moved);
    return {};
  });
}

struct InChannelsLast {
  AttrMap attrs;
  std::shared_ptr<const void> prepared_by_kernel;
};

} // namespace

bool is_channels_first(const AttrMap& attrs) {
  const std::string format = data_format(attrs);
  return format == "NCHW" || format == "NCDHW";
}

Result<std::shared_ptr<const void>> prepare_channels_first(PrepareContext& c, PrepareFn prepare) {
  AttrMap attrs = in_channels_last(c.attrs());
  PrepareContext inner = c.with_attrs(attrs);
  TROUPE_ASSIGN(auto own, prepare(inner));
  return prepared(InChannelsLast{std::move(attrs), std::move(own)});
}

Status compute_channels_first(KernelContext& c, KernelFn compute, ImageArgs args) {
  const auto& kept = c.prepared<InChannelsLast>();
  const auto rank = static_cast<int>(rank_of(kept.attrs));
  std::vector<Entry> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const unsigned bit = 1U << i;
    Entry& entry = inputs.emplace_back(c.input_entry(i));
    const Tensor& given = c.input(i);
    if ((args.images & bit) && given.shape().rank() == rank) {
      TROUPE_ASSIGN(const Shape moved, permuted(given.shape(), To::last));
      TROUPE_ASSIGN(entry.tensor, c.allocate_temp(given.dtype(), moved));
      TROUPE_TRY(transpose(c, given, To::last, entry.tensor));
    } else if ((args.sizes & bit) && given.shape() == Shape{rank}) {
      TROUPE_TRY(sizes_in_channels_last(given, entry.tensor));
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
  TROUPE_ASSIGN(const Shape moved, permuted(made.shape(), To::first));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, moved));
  return transpose(c, made, To::first, out);
}

} // namespace troupe::nn

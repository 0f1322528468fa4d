// RebatchDataset: each batch in as many pieces as there are replicas. RebatchDatasetV2: batches of
// other sizes, in turn.
#include <algorithm>

#include "devices/resource/batches.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_rebatch {

using namespace data;
using data::unknown;

namespace {

constexpr auto no_batch =
    "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input "
    "dataset is not batched? Component ";

Status check_batch(const Element& batch, bool of_one_size) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].shape().rank() == 0)
      return invalid_argument(str_cat(no_batch, i, " is scalar."));
    if (of_one_size && batch[i].shape().dim(0) != batch[0].shape().dim(0))
      return invalid_argument(str_cat(
          "Cannot rebatch dataset: All components must have the same batch size. Component ", i,
          " has batch size ", batch[i].shape().dim(0), " but component 0 has ",
          batch[0].shape().dim(0), "."));
  }
  return batch.empty() ? invalid_argument("Cannot rebatch dataset: it has no components.")
                       : Status();
}

/// Rows of several batches below each other, in memory of their own.
struct Piece {
  Tensor batch;
  std::int64_t begin = 0, end = 0;
};
Result<Tensor> join(const std::vector<Piece>& pieces, Allocator& memory) {
  const Tensor& first = pieces[0].batch;
  std::vector<std::int64_t> dims(first.shape().dims().begin(), first.shape().dims().end());
  dims[0] = 0;
  std::int64_t row = 1;
  for (std::size_t d = 1; d < dims.size(); ++d)
    row *= dims[d];
  for (const Piece& piece : pieces) {
    dims[0] += piece.end - piece.begin;
    const Shape& shape = piece.batch.shape();
    if (piece.batch.dtype() != first.dtype() ||
        !std::ranges::equal(shape.dims().subspan(1), first.shape().dims().subspan(1)))
      return invalid_argument(str_cat("Cannot rebatch dataset: batches have different shapes: ",
                                      first.shape(), " and ", shape));
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory, first.dtype(), shape));
  std::int64_t at = 0;
  for (const Piece& piece : pieces) {
    const std::int64_t count = piece.end - piece.begin;
    if (count > 0 && row > 0)
      copy_elements(piece.batch, piece.begin * row, out, at * row, count * row);
    at += count;
  }
  TROUPE_TRY(out.settle(memory));
  return out;
}

class RebatchDataset final : public UnaryDataset {
public:
  RebatchDataset(const KernelContext& c, DatasetRef input, std::int64_t replicas)
      : UnaryDataset(c, std::move(input)), replicas_(replicas) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Pieces>(this, pipeline);
  }

private:
  class Pieces final : public IteratorOver<RebatchDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      if (number_ == 0) {
        batch_.clear();
        TROUPE_CO_ASSIGN(std::optional<Element> batch, co_await input()->next(pull));
        if (!batch)
          co_return end_of_sequence();
        TROUPE_CO_TRY(check_batch(*batch, false));
        batch_ = *std::move(batch);
      }
      const std::int64_t replicas = dataset().replicas_;
      Element out;
      for (const Tensor& component : batch_) {
        const std::int64_t rows = component.shape().dim(0);
        const std::int64_t each = rows / replicas + (rows % replicas != 0);
        const std::int64_t begin = std::min(each * number_, rows);
        const std::int64_t end = std::min(begin + each, rows);
        TROUPE_CO_ASSIGN(Tensor piece, join({{component, begin, end}}, pull.pipeline().memory()));
        out.push_back(std::move(piece));
      }
      number_ = (number_ + 1) % replicas;
      co_return one_more(std::move(out));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("number", number_);
      to.put_all("batch", batch_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(number_, from.integer("number"));
      TROUPE_CO_ASSIGN(batch_, from.all("batch"));
      if (number_ < 0 || number_ >= dataset().replicas_ ||
          (number_ > 0 && !check_batch(batch_, false).ok()))
        co_return data_loss("the state of the iterator has no batch to go on with");
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Element batch_;
    std::int64_t number_ = 0; // of the piece of it
  };

  const std::int64_t replicas_;
};

class RebatchDatasetV2 final : public UnaryDataset {
public:
  RebatchDatasetV2(const KernelContext& c, DatasetRef input, std::vector<std::int64_t> sizes,
                   bool drop_remainder)
      : UnaryDataset(c, std::move(input)), sizes_(std::move(sizes)),
        drop_remainder_(drop_remainder) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Batches>(this, pipeline);
  }

private:
  class Batches final : public IteratorOver<RebatchDatasetV2> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      const std::int64_t wanted = dataset().sizes_[static_cast<std::size_t>(number_)];
      std::vector<std::vector<Piece>> pieces; // by component
      std::int64_t size = 0;
      while (size < wanted) {
        TROUPE_CO_TRY(co_await pull.breathe());
        if (batch_.empty()) {
          TROUPE_CO_ASSIGN(std::optional<Element> batch, co_await input()->next(pull));
          if (!batch) {
            has_ended_ = true;
            break;
          }
          TROUPE_CO_TRY(check_batch(*batch, true));
          batch_ = *std::move(batch);
          at_ = 0;
        }
        const std::int64_t rows = batch_[0].shape().dim(0);
        const std::int64_t end = std::min(at_ + wanted - size, rows);
        pieces.resize(batch_.size());
        for (std::size_t i = 0; i < batch_.size(); ++i)
          pieces[i].push_back({batch_[i], at_, end});
        size += end - at_;
        at_ = end;
        if (at_ == rows)
          batch_.clear();
      }
      number_ = (number_ + 1) % static_cast<std::int64_t>(dataset().sizes_.size());
      if ((size == 0 && wanted > 0) || (dataset().drop_remainder_ && size < wanted))
        co_return end_of_sequence();
      if (wanted == 0)
        co_return empty_batch(pull.pipeline().memory());
      Element out;
      for (const auto& of_component : pieces) {
        TROUPE_CO_ASSIGN(Tensor joined, join(of_component, pull.pipeline().memory()));
        out.push_back(std::move(joined));
      }
      co_return one_more(std::move(out));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("number", number_);
      to.put("at", at_);
      to.put("has_ended", has_ended_);
      to.put_all("batch", batch_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(number_, from.integer("number"));
      TROUPE_CO_ASSIGN(at_, from.integer("at"));
      TROUPE_CO_ASSIGN(has_ended_, from.integer("has_ended"));
      TROUPE_CO_ASSIGN(batch_, from.all("batch"));
      if (number_ < 0 || static_cast<std::size_t>(number_) >= dataset().sizes_.size() ||
          (!batch_.empty() &&
           (!check_batch(batch_, true).ok() || at_ < 0 || at_ >= batch_[0].shape().dim(0))))
        co_return data_loss("the state of the iterator has no batch to go on with");
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    // What is not known of its shape is 0.
    Next empty_batch(Allocator& memory) const {
      Element out;
      for (std::size_t i = 0; i < dataset().types().size(); ++i) {
        const PartialShape& shape = dataset().shapes()[i];
        std::vector<std::int64_t> dims{0};
        for (int d = 1; shape.has_rank() && d < shape.rank(); ++d)
          dims.push_back(std::max<std::int64_t>(shape.dim(d), 0));
        TROUPE_ASSIGN(const Shape whole, Shape::make(dims));
        TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(memory, dataset().types()[i], whole));
        out.push_back(std::move(tensor));
      }
      return one_more(std::move(out));
    }

    Element batch_; // of which rows are left; empty: none
    std::int64_t at_ = 0, number_ = 0;
    bool has_ended_ = false;
  };

  const std::vector<std::int64_t> sizes_;
  const bool drop_remainder_;
};

Result<DatasetRef> make_pieces(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto replicas, scalar_input<std::int64_t>(c, 1));
  if (replicas <= 0)
    return invalid_argument("num_replicas must be greater than zero.");
  return new_dataset<RebatchDataset>(c, std::move(input), replicas);
}

Result<DatasetRef> make_batches(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  if (c.input(1).shape().rank() > 1)
    return invalid_argument("`batch_sizes` must be a scalar or a vector.");
  const auto sizes = c.input(1).data<std::int64_t>();
  const bool are_sizes = std::ranges::all_of(sizes, [](std::int64_t size) { return size >= 0; });
  if (!are_sizes || std::ranges::all_of(sizes, [](std::int64_t size) { return size == 0; }))
    return invalid_argument("`batch_sizes` must be at least 0, and one of them greater.");
  TROUPE_ASSIGN(const bool drop_remainder, scalar_input<bool>(c, 2));
  return new_dataset<RebatchDatasetV2>(
      c, std::move(input), std::vector<std::int64_t>(sizes.begin(), sizes.end()), drop_remainder);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RebatchDataset")
      .input("input_dataset: variant; num_replicas: int64")
      .output("handle: variant")
      .attr(typed)
      .attr("use_fallback: bool = true")
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_pieces>)
      .doc("Each batch in `num_replicas` pieces.");
  library.op("RebatchDatasetV2")
      .input("input_dataset: variant; batch_sizes: int64; drop_remainder: bool")
      .output("handle: variant")
      .attr(typed)
      .shape_fn(shapes_of_scalars<2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_batches>)
      .doc("The rows of the batches in batches of these sizes, in turn.");
}

} // namespace troupe::data_rebatch

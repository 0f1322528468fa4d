// Batch: rows that several steps bring become one batch, which one of the steps gets.
#include <algorithm>
#include <array>

#include "core/base/random.hpp"
#include "kernels/queue/internal/batcher.hpp"

namespace troupe::queue_batch {
namespace {

using batching::Batch;

struct IdRequest final : batching::BatchRequest {
  std::int64_t id = 0;
};
IdRequest& request_in(const batching::Piece& piece) {
  return static_cast<IdRequest&>(*piece.request);
}

/// The last request of a batch gets the batch and an index [requests, 3] of ids, begins and ends;
/// the others get no rows. All get their id.
class PlainBatcher final : public batching::Batcher {
public:
  using Batcher::Batcher;

protected:
  void process(std::shared_ptr<Work> work) override {
    const Batch& batch = work->batch;
    for (std::size_t i = 0; i < batch.pieces.size(); ++i)
      request_in(batch.pieces[i]).done(outputs(batch, i));
    ended(work);
  }

private:
  Result<Tensors> outputs(const Batch& batch, std::size_t place) const {
    const IdRequest& request = request_in(batch.pieces[place]);
    const bool is_last = place + 1 == batch.pieces.size();
    Tensors out;
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      TROUPE_ASSIGN(Tensor one, is_last ? joined_input(batch, i)
                                        : batching::without_rows(request.inputs[i], memory_));
      out.push_back(std::move(one));
    }
    const auto count = static_cast<std::int64_t>(is_last ? batch.pieces.size() : 0);
    TROUPE_ASSIGN(Tensor index, Tensor::allocate(memory_, DType::int64, Shape{count, 3}));
    if (is_last)
      write_index(batch, index.mutable_data<std::int64_t>());
    out.push_back(std::move(index));
    out.push_back(Tensor::scalar(request.id));
    return out;
  }

  static void write_index(const Batch& batch, std::span<std::int64_t> index) {
    std::int64_t at = 0;
    auto to = index.begin();
    for (const batching::Piece& piece : batch.pieces) {
      to = std::ranges::copy(std::array{request_in(piece).id, at, at + piece.rows}, to).out;
      at += piece.rows;
    }
  }
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(batching::Node node, batching::read_node(c, false));
  return prepared(std::move(node));
}

Status begin(KernelContext& c, const KernelDone& done) {
  const int count = c.num_inputs();
  auto request = std::make_shared<IdRequest>();
  TROUPE_ASSIGN(request->rows, batching::rows_of_inputs(c, count));
  request->id = static_cast<std::int64_t>(random_id());
  if (request->rows > 0) {
    for (int i = 0; i < count; ++i)
      request->inputs.push_back(c.input(i));
    return batching::gather<PlainBatcher>(c, done, c.prepared<batching::Node>(), request);
  }
  for (int i = 0; i < count; ++i) { // a batch of nothing needs nobody else
    TROUPE_ASSIGN(Tensor none,
                  batching::without_rows(c.input(i), c.device().host_side_allocator()));
    TROUPE_TRY(c.set_output(i, std::move(none)));
  }
  TROUPE_TRY(c.set_output(count, Tensor::zeros(DType::int64, Shape{0, 3})));
  TROUPE_TRY(c.set_output(count + 1, Tensor::scalar(request->id)));
  done({});
  return {};
}

void compute(KernelContext& c, KernelDone done) {
  if (Status status = begin(c, done); !status.ok())
    done(std::move(status));
}

Status infer(ShapeContext& c) {
  const int count = c.num_outputs() - 2;
  for (int i = 0; i < count; ++i) {
    TROUPE_TRY(c.require_rank_at_least(i, 1));
    if (!c.input(i).has_rank()) {
      TROUPE_TRY(c.set_output(i, PartialShape()));
      continue;
    }
    std::vector<std::int64_t> dims = c.input(i).dims();
    dims[0] = -1;
    TROUPE_TRY(c.set_output(i, PartialShape(std::move(dims))));
  }
  TROUPE_TRY(c.set_output(count, {-1, 3}));
  return c.set_output(count + 1, PartialShape(std::vector<std::int64_t>{}));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Batch")
      .input("in_tensors: T")
      .output("batched_tensors: T; batch_index: int64; id: int64")
      .attr("num_batch_threads: int; max_batch_size: int; max_enqueued_batches: int = 10")
      .attr("batch_timeout_micros: int; allowed_batch_sizes: list(int) = []")
      .attr("grad_timeout_micros: int; container: string = ''; shared_name: string = ''")
      .attr("batching_queue: string = ''; T: list(type) >= 1")
      .roles({Role::random, Role::blocks})
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel_async(compute, {.prepare = prepare})
      .doc("Gathers the rows of several steps; one of them gets the batch, the others no rows.");
}

} // namespace troupe::queue_batch

// BatchFunction: a function is called for the rows that several steps bring, together.
#include <map>
#include <mutex>

#include "kernels/framework/functions.hpp"
#include "kernels/queue/internal/batcher.hpp"

namespace troupe::queue_batch_function {
namespace {

struct FunctionNode {
  batching::Node node;
  FunctionRef function;
  int rows_inputs = 0; ///< the other inputs are captured
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  FunctionNode out;
  TROUPE_ASSIGN(out.node, batching::read_node(c, true));
  TROUPE_ASSIGN(out.function, c.attr<FunctionRef>("f"));
  TROUPE_ASSIGN(const auto types, c.attr<std::vector<DType>>("Tin"));
  out.rows_inputs = static_cast<int>(types.size());
  return prepared(std::move(out));
}

/// What a step brings, and how to call the function from there.
struct CallRequest final : batching::BatchRequest {
  Tensors captured;
  std::shared_ptr<Functions> functions;
  std::shared_ptr<const Function> function;
  std::uint64_t step_id = 0;
  int depth = 1;
  int num_outputs = 0;

  // Its pieces' results, in order; guarded by the lock.
  std::mutex lock;
  std::map<std::int64_t, Tensors> results;
  std::int64_t rows_done = 0;
  bool has_ended = false;
};

CallRequest& call_of(const batching::Piece& piece) {
  return static_cast<CallRequest&>(*piece.request);
}

/// Results of a piece, or why there are none. The last piece answers.
void give(const batching::Piece& piece, Result<Tensors> results, Allocator& memory) {
  CallRequest& request = call_of(piece);
  std::unique_lock guard(request.lock);
  if (request.has_ended)
    return;
  if (results.ok()) {
    request.results.emplace(piece.begin, *std::move(results));
    request.rows_done += piece.rows;
    if (request.rows_done < request.rows)
      return;
  }
  request.has_ended = true;
  guard.unlock();
  const auto answer = [&]() -> Result<Tensors> {
    TROUPE_TRY(results.status());
    if (request.results.size() == 1)
      return std::move(request.results.begin()->second);
    Tensors out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(request.num_outputs); ++i) {
      std::vector<Rows> parts;
      for (const auto& [begin, tensors] : request.results)
        parts.push_back({&tensors[i], 0, tensors[i].shape()[0]});
      TROUPE_ASSIGN(Tensor joined, join_rows(parts, memory));
      out.push_back(std::move(joined));
    }
    return out;
  };
  request.done(answer());
}

class FunctionBatcher final : public batching::Batcher {
public:
  using Batcher::Batcher;

protected:
  void process(std::shared_ptr<Work> work) override {
    auto self = std::static_pointer_cast<FunctionBatcher>(shared_from_this());
    call_of(work->batch.pieces.back()).functions->submit([self, work] { self->call(work); });
  }

private:
  Result<Tensors> args_of(const batching::Batch& batch) const {
    const CallRequest& last = call_of(batch.pieces.back());
    Tensors out;
    for (std::size_t i = 0; i < last.inputs.size(); ++i) {
      TROUPE_ASSIGN(Tensor joined, joined_input(batch, i));
      out.push_back(std::move(joined));
    }
    out.insert(out.end(), last.captured.begin(), last.captured.end());
    return out;
  }

  void call(const std::shared_ptr<Work>& work) {
    auto args = args_of(work->batch);
    if (!args.ok())
      return end(work, args.status());
    const CallRequest& last = call_of(work->batch.pieces.back());
    auto self = std::static_pointer_cast<FunctionBatcher>(shared_from_this());
    last.function->call(
        {.args = *std::move(args),
         .cancellation = &work->cancellation,
         .states = nullptr,
         .step_id = last.step_id,
         .depth = last.depth},
        [self, work](Result<Tensors> results) { self->end(work, std::move(results)); });
  }

  void end(const std::shared_ptr<Work>& work, Result<Tensors> results) {
    Status status = results.status();
    if (status.ok())
      status = check(work->batch, *results);
    std::int64_t at = 0;
    for (const batching::Piece& piece : work->batch.pieces) {
      give(piece, status.ok() ? piece_of(*results, at, piece.rows) : Result<Tensors>(status),
           memory_);
      at += piece.rows;
    }
    ended(work);
  }

  Status check(const batching::Batch& batch, const Tensors& results) const {
    const std::int64_t rows = limits_.padded(batch.rows);
    for (const batching::Piece& piece : batch.pieces)
      if (static_cast<int>(results.size()) != call_of(piece).num_outputs)
        return internal(str_cat("Wrong number of batched output tensors: function ",
                                call_of(batch.pieces.back()).function->name(), " gives ",
                                results.size(), ", and ", call_of(piece).num_outputs,
                                " are declared"));
    for (const Tensor& result : results) {
      if (result.shape().is_scalar())
        return failed_precondition("Batched output tensor has 0 dimensions");
      if (result.shape()[0] != rows)
        return failed_precondition(
            str_cat("Batched output tensor's 0th dimension does not equal the sum of the 0th "
                    "dimension sizes of the input tensors: it is ",
                    result.shape()[0], " and not ", rows));
    }
    return {};
  }

  Result<Tensors> piece_of(const Tensors& results, std::int64_t begin, std::int64_t rows) const {
    Tensors out;
    for (const Tensor& result : results) {
      TROUPE_ASSIGN(Tensor one, rows_of(result, begin, rows, memory_));
      out.push_back(std::move(one));
    }
    return out;
  }
};

Status check_arguments(const KernelContext& c, const Function& function, int rows_inputs) {
  for (int i = 0; i < rows_inputs; ++i)
    if (c.input(i).dtype() == DType::resource)
      return invalid_argument(
          str_cat("BatchFunction cannot take resource inputs but input ", i, " is a resource."));
  const auto& types = function.arg_types();
  if (static_cast<int>(types.size()) != c.num_inputs())
    return invalid_argument(str_cat("Function takes ", types.size(), " argument(s) but ",
                                    c.num_inputs(), " argument(s) were passed"));
  return {};
}

Status begin(KernelContext& c, const KernelDone& done) {
  const auto& prepared = c.prepared<FunctionNode>();
  auto request = std::make_shared<CallRequest>();
  TROUPE_ASSIGN(request->functions, functions(c));
  TROUPE_ASSIGN(request->function, request->functions->find(prepared.function));
  TROUPE_TRY(check_arguments(c, *request->function, prepared.rows_inputs));
  TROUPE_ASSIGN(request->rows, batching::rows_of_inputs(c, prepared.rows_inputs));
  if (request->rows == 0) {
    for (int i = 0; i < c.num_outputs(); ++i)
      TROUPE_TRY(c.allocate_output(i, Shape{0}).status());
    done({});
    return {};
  }
  for (int i = 0; i < c.num_inputs(); ++i)
    (i < prepared.rows_inputs ? request->inputs : request->captured).push_back(c.input(i));
  request->step_id = c.step().step_id;
  request->depth = c.step().call_depth + 1;
  request->num_outputs = c.num_outputs();
  return batching::gather<FunctionBatcher>(c, done, prepared.node, request);
}

void compute(KernelContext& c, KernelDone done) {
  if (Status status = begin(c, done); !status.ok())
    done(std::move(status));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("BatchFunction")
      .input("in_tensors: Tin; captured_tensors: Tcaptured")
      .output("out_tensors: Tout")
      .attr("f: func; num_batch_threads: int; max_batch_size: int; batch_timeout_micros: int")
      .attr("max_enqueued_batches: int = 10; allowed_batch_sizes: list(int) = []")
      .attr("container: string = ''; shared_name: string = ''; batching_queue: string = ''")
      .attr("low_priority_max_batch_size: int = 0; low_priority_batch_timeout_micros: int = 0")
      .attr("low_priority_allowed_batch_sizes: list(int) = []")
      .attr("low_priority_max_enqueued_batches: int = 0")
      .attr("mixed_priority_policy: {'low_priority_padding_with_max_batch_size', "
            "'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', "
            "'priority_merge'} = 'low_priority_padding_with_max_batch_size'")
      .attr("batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = "
            "'PAD_UP'")
      .attr("Tin: list(type) >= 1; Tcaptured: list(type) >= 0; Tout: list(type) >= 1")
      .attr("enable_large_batch_splitting: bool = false")
      .roles({Role::runs_functions, Role::random, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable("it has no gradient in TensorFlow")
      .cpu_kernel_async(compute, {.prepare = prepare})
      .doc("Calls `f` once for the rows that several steps bring, and gives each step its rows of "
           "the results.");
}

} // namespace troupe::queue_batch_function

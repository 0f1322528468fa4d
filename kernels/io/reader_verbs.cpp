// What is done with a reader: ReaderRead, ReaderReadUpTo, what it has read, ReaderReset, and its
// state.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"
#include "kernels/io/internal/reader.hpp"

namespace troupe::io_reader_verbs {
namespace {

using io::Reader;

/// Inputs `first` and on that are handles: scalars, or pairs of strings.
Status check_handles(ShapeContext& c, int count) {
  for (int i = 0; i < count; ++i) {
    const bool is_ref = c.schema().inputs[static_cast<std::size_t>(i)].is_ref;
    TROUPE_TRY(c.require_rank(i, is_ref ? 1 : 0));
    if (is_ref && c.input(i).has_rank() && c.input(i).dim(0) >= 0 && c.input(i).dim(0) != 2)
      return invalid_argument(str_cat("Dimension must be 2 but is ", c.input(i).dim(0)));
  }
  return {};
}

Status infer_scalars(ShapeContext& c) {
  int handles = c.num_inputs();
  if (handles > 1 && !c.schema().inputs[1].name.ends_with("handle")) {
    TROUPE_TRY(c.require_rank(1, 0));
    handles = 1;
  }
  TROUPE_TRY(check_handles(c, handles));
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, Shape{}));
  return {};
}

Status infer_up_to(ShapeContext& c) {
  TROUPE_TRY(check_handles(c, 2));
  TROUPE_TRY(c.require_rank(2, 0));
  for (int i : {0, 1})
    TROUPE_TRY(c.set_output(i, PartialShape{-1}));
  return {};
}

Result<std::int64_t> most_records(KernelContext& c) {
  const Tensor& most = c.input(2);
  if (!most.shape().is_scalar())
    return invalid_argument(str_cat("num_records must be a scalar, but had shape: ", most.shape()));
  const auto value = most.value<std::int64_t>();
  if (value < 0)
    return invalid_argument(str_cat("num_records must be >= 0, but is ", value));
  return value;
}

Status start(KernelContext& c, const KernelDone& done, bool is_batch) {
  TROUPE_ASSIGN(auto reader, input_resource<Reader>(c, 0));
  TROUPE_ASSIGN(auto queue, input_resource<Queue>(c, 1));
  std::int64_t most = 1;
  if (is_batch) {
    TROUPE_ASSIGN(most, most_records(c));
  }
  const Reader::Ticket ticket = reader->ticket();
  wait_for(
      c, done,
      [&](Arrived arrived) {
        if (is_batch)
          reader->read_up_to(ticket, std::move(queue), most, std::move(arrived));
        else
          reader->read(ticket, std::move(queue), std::move(arrived));
      },
      [reader, ticket] { reader->withdraw(ticket); },
      [&] { return WaitText([reader, ticket] { return reader->waits_for(ticket); }); });
  return {};
}

void read(KernelContext& c, KernelDone done) {
  if (Status status = start(c, done, false); !status.ok())
    done(std::move(status));
}

void read_up_to(KernelContext& c, KernelDone done) {
  if (Status status = start(c, done, true); !status.ok())
    done(std::move(status));
}

Status records_produced(KernelContext& c) {
  TROUPE_ASSIGN(auto reader, input_resource<Reader>(c, 0));
  return c.set_output(0, Tensor::scalar(reader->records_produced()));
}

Status files_completed(KernelContext& c) {
  TROUPE_ASSIGN(auto reader, input_resource<Reader>(c, 0));
  return c.set_output(0, Tensor::scalar(reader->files_completed()));
}

Status reset(KernelContext& c) {
  TROUPE_ASSIGN(auto reader, input_resource<Reader>(c, 0));
  reader->reset();
  return {};
}

Status serialize(KernelContext& c) {
  TROUPE_ASSIGN(auto reader, input_resource<Reader>(c, 0));
  TROUPE_ASSIGN(std::string state, reader->state());
  return c.set_output(0, Tensor::scalar(std::move(state)));
}

Status restore(KernelContext& c) {
  TROUPE_ASSIGN(auto reader, input_resource<Reader>(c, 0));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat("Reader state must be scalar, but had shape: ", c.input(1).shape()));
  return reader->restore(c.input(1).value<std::string>());
}

struct Verb {
  std::string_view name, inputs, outputs, doc;
  KernelFn kernel;
  AsyncKernelFn async;
  bool changes;
  ShapeFn shape = infer_scalars;
};

constexpr Verb verbs[] = {
    {"ReaderRead", "", "key: string; value: string",
     "The reader's next record; when a file is over, the queue gives the name of the next one.",
     nullptr, read, true},
    {"ReaderReadUpTo", "num_records: int64", "keys: string; values: string",
     "The reader's next records, at most `num_records` of one file.", nullptr, read_up_to, true,
     infer_up_to},
    {"ReaderNumRecordsProduced", "", "records_produced: int64",
     "How many records the reader has given.", records_produced, nullptr, false},
    {"ReaderNumWorkUnitsCompleted", "", "units_completed: int64",
     "How many files the reader has read to their end.", files_completed, nullptr, false},
    {"ReaderReset", "", "", "Makes the reader what it was at first.", reset, nullptr, true},
    {"ReaderSerializeState", "", "state: string",
     "The reader's state, of kinds that never stop within a file.", serialize, nullptr, false},
    {"ReaderRestoreState", "state: string", "", "Gives the reader a state that it once had.",
     restore, nullptr, true},
};

} // namespace

void register_ops(OpLibrary& library) {
  for (const Verb& verb : verbs)
    for (const bool v2 : {false, true}) {
      auto op = library.op(str_cat(verb.name, v2 ? "V2" : ""));
      op.input(v2 ? "reader_handle: resource" : "reader_handle: Ref(string)");
      if (verb.async)
        op.input(v2 ? "queue_handle: resource" : "queue_handle: Ref(string)");
      if (!verb.inputs.empty())
        op.input(verb.inputs);
      if (!verb.outputs.empty())
        op.output(verb.outputs);
      if (v2)
        op.stateful();
      op.shape_fn(verb.shape).not_differentiable("records have no gradient").doc(verb.doc);
      // A reader is held while a record is read, so the others may wait for the disk.
      if (verb.async)
        op.roles({Role::side_effect, Role::blocks}).cpu_kernel_async(verb.async);
      else
        op.roles(verb.changes ? Role::side_effect : Role::random)
            .cpu_kernel(verb.kernel, {.expensive = true});
    }
}

} // namespace troupe::io_reader_verbs

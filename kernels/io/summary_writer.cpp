// SummaryWriter and what is done with one: events in files that TensorBoard reads.
#include "core/base/strings.hpp"
#include "devices/file_host.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/io/internal/event_writer.hpp"
#include "kernels/io/internal/media.hpp"

namespace troupe::io_summary_writer {
namespace {

using io::EventWriter;

Result<std::shared_ptr<const void>> keep_name(PrepareContext& c) {
  TROUPE_ASSIGN(NodeResource resource, named_resource(c));
  return prepared(std::move(resource.name));
}

Status give_handle(KernelContext& c) {
  const auto& name = c.prepared<ResourceName>();
  const std::string& container =
      name.container.empty() ? c.resources().default_container() : name.container;
  return c.set_output(0,
                      Tensor::scalar(make_handle<EventWriter>(c.device(), container, name.name)));
}

/// Input i, which has to be a scalar, called as the op calls it.
template <class T>
Result<T> scalar(const KernelContext& c, int i) {
  if (c.input(i).shape().is_scalar())
    return c.input(i).value<T>();
  return invalid_argument(str_cat(c.node().schema->inputs[static_cast<std::size_t>(i)].name,
                                  " must be a scalar, got shape ", c.input(i).shape()));
}

Status create(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  EventWriter::Spec spec;
  TROUPE_ASSIGN(spec.folder, scalar<std::string>(c, 1));
  TROUPE_ASSIGN(spec.max_queue, scalar<std::int32_t>(c, 2));
  TROUPE_ASSIGN(spec.flush_ms, scalar<std::int32_t>(c, 3));
  TROUPE_ASSIGN(spec.suffix, scalar<std::string>(c, 4));
  if (spec.suffix.find('/') != std::string::npos)
    return invalid_argument(str_cat("filename_suffix is no path, but is '", spec.suffix, "'"));
  const auto files = files_of(c.device());
  if (!files)
    return no_files(c.device().name());
  return c.resources()
      .lookup_or_create<EventWriter>(handle->container, handle->name,
                                     [&] { return EventWriter::make(files, std::move(spec)); })
      .status();
}

Result<std::shared_ptr<const void>> refuse_database(PrepareContext&) {
  return unimplemented("summaries are not written to databases; use CreateSummaryFileWriter, whose "
                       "files TensorBoard reads");
}

Status never(KernelContext&) {
  return internal("this kernel is refused when its graph is compiled");
}

Status flush(KernelContext& c) {
  TROUPE_ASSIGN(auto writer, input_resource<EventWriter>(c, 0));
  return writer->flush();
}

Status close(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  TROUPE_ASSIGN(auto writer, input_resource<EventWriter>(c, 0));
  TROUPE_TRY(c.resources().remove<EventWriter>(handle->container, handle->name));
  return writer->flush();
}

/// An event with a Summary.
Status write(KernelContext& c, const MessageWriter& summary) {
  TROUPE_ASSIGN(auto writer, input_resource<EventWriter>(c, 0));
  TROUPE_ASSIGN(const auto step, scalar<std::int64_t>(c, 1));
  MessageWriter event = io::new_event(step);
  event.message(event_field::summary, summary);
  return writer->write(event.take());
}

/// With one value.
Status write_value(KernelContext& c, const MessageWriter& value) {
  MessageWriter summary;
  io::add_value(summary, value);
  return write(c, summary);
}

Status write_tensor(KernelContext& c) {
  TROUPE_ASSIGN(const auto tag, scalar<std::string>(c, 3));
  TROUPE_ASSIGN(const auto metadata, scalar<std::string>(c, 4));
  TROUPE_ASSIGN(const std::string tensor, tensor_message(c.input(2)));
  MessageWriter value;
  value.bytes(1, tag).bytes(8, tensor);
  if (!metadata.empty())
    value.bytes(9, metadata);
  return write_value(c, value);
}

Status write_scalar(KernelContext& c) {
  TROUPE_ASSIGN(const auto tag, scalar<std::string>(c, 2));
  const Tensor& number = c.input(3);
  if (number.num_elements() < 1)
    return invalid_argument(str_cat("value must be a scalar, got shape ", number.shape()));
  MessageWriter value;
  value.bytes(1, tag);
  TROUPE_TRY(dispatch(io::SummaryNumbers{}, number.dtype(), [&]<class T>() -> Status {
    value.real(2, static_cast<float>(number.data<T>()[0]));
    return {};
  }));
  return write_value(c, value);
}

Status write_histogram(KernelContext& c) {
  TROUPE_ASSIGN(const auto tag, scalar<std::string>(c, 2));
  TROUPE_ASSIGN(const MessageWriter histogram, io::histogram_message(c.input(3), tag));
  MessageWriter value;
  value.bytes(1, tag).message(5, histogram);
  return write_value(c, value);
}

Result<std::shared_ptr<const void>> check_most_images(PrepareContext& c) {
  TROUPE_ASSIGN(const auto most, c.attr<std::int64_t>("max_images"));
  if (most >= std::int64_t{1} << 31)
    return invalid_argument("max_images must be < 2^31");
  return std::shared_ptr<const void>();
}

Status write_image(KernelContext& c) {
  TROUPE_ASSIGN(const auto tag, scalar<std::string>(c, 2));
  TROUPE_ASSIGN(const MessageWriter summary,
                io::picture_summary(c, tag, c.input(3),
                                    c.attrs().get_or<std::int64_t>("max_images", 3), c.input(4)));
  return write(c, summary);
}

Status write_audio(KernelContext& c) {
  TROUPE_ASSIGN(const auto tag, scalar<std::string>(c, 2));
  TROUPE_ASSIGN(const float rate, scalar<float>(c, 4));
  TROUPE_ASSIGN(const MessageWriter summary,
                io::sound_summary(c, tag, c.input(3),
                                  c.attrs().get_or<std::int64_t>("max_outputs", 3), rate));
  return write(c, summary);
}

/// Whether the text is a message, and its fields `inner` are.
bool is_message(std::string_view text, int inner) {
  MessageReader in(text);
  while (in.next()) {
    if (in.field() != inner)
      continue;
    if (!in.is_bytes())
      return false;
    MessageReader field(in.bytes());
    while (field.next()) {
    }
    if (!field.ok())
      return false;
  }
  return in.ok();
}

Status write_summaries(KernelContext& c) {
  MessageWriter summary; // messages one after the other are one with the values of all
  const auto messages = c.input(2).data<std::string>();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!is_message(messages[i], 1))
      return data_loss(str_cat("Bad tf.compat.v1.Summary binary proto tensor string at index ", i));
    summary.raw(messages[i].data(), messages[i].size());
  }
  return write(c, summary);
}

Status write_graph(KernelContext& c) {
  TROUPE_ASSIGN(auto writer, input_resource<EventWriter>(c, 0));
  TROUPE_ASSIGN(const auto step, scalar<std::int64_t>(c, 1));
  TROUPE_ASSIGN(const auto graph, scalar<std::string>(c, 2));
  if (!is_message(graph, 1))
    return data_loss("Bad tf.GraphDef binary proto tensor string");
  MessageWriter event = io::new_event(step);
  event.bytes(event_field::graph_def, graph);
  return writer->write(event.take());
}

Status import_event(KernelContext& c) {
  TROUPE_ASSIGN(auto writer, input_resource<EventWriter>(c, 0));
  TROUPE_ASSIGN(auto event, scalar<std::string>(c, 1));
  if (!is_message(event, event_field::summary))
    return data_loss("Bad tf.Event binary proto tensor string");
  return writer->write(std::move(event));
}

struct Verb {
  std::string_view name, inputs, attrs, doc;
  KernelFn kernel;
  PrepareFn prepare = nullptr;
};

constexpr Verb verbs[] = {
    {"CreateSummaryFileWriter",
     "logdir: string; max_queue: int32; flush_millis: int32; filename_suffix: string", "",
     "Makes the writer of the handle, unless there is one, and a file in `logdir`.", create},
    {"CreateSummaryDbWriter",
     "db_uri: string; experiment_name: string; run_name: string; user_name: string", "",
     "Refused: summaries are not written to databases.", never, refuse_database},
    {"FlushSummaryWriter", "", "", "Writes what is queued to the file.", flush},
    {"CloseSummaryWriter", "", "", "Writes what is queued to the file, and ends the writer.",
     close},
    {"WriteSummary", "step: int64; tensor: T; tag: string; summary_metadata: string", "T: type",
     "Writes a tensor, and what a plugin of TensorBoard is to know of it.", write_tensor},
    {"WriteScalarSummary", "step: int64; tag: string; value: T",
     "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}",
     "Writes a number.", write_scalar},
    {"WriteHistogramSummary", "step: int64; tag: string; values: T",
     "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, "
     "bool} = DT_FLOAT",
     "Writes the histogram of the values.", write_histogram},
    {"WriteImageSummary", "step: int64; tag: string; tensor: T; bad_color: uint8",
     "max_images: int >= 1 = 3; T: {uint8, double, float, half} = DT_FLOAT",
     "Writes up to `max_images` pictures.", write_image, check_most_images},
    {"WriteAudioSummary", "step: int64; tag: string; tensor: float; sample_rate: float",
     "max_outputs: int >= 1 = 3", "Writes up to `max_outputs` sounds.", write_audio},
    {"WriteRawProtoSummary", "step: int64; tensor: string", "",
     "Writes the values of Summary messages.", write_summaries},
    {"WriteGraphSummary", "step: int64; tensor: string", "", "Writes a GraphDef message.",
     write_graph},
    {"ImportEvent", "event: string", "", "Writes an Event message as it is.", import_event},
};

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SummaryWriter")
      .output("writer: resource")
      .attr("shared_name: string = ''; container: string = ''")
      .stateful()
      .shape_fn(shape_of_handle)
      .not_differentiable("a handle has no gradient")
      .cpu_kernel(give_handle, {.prepare = keep_name})
      .doc("A handle to the summary writer `shared_name` (or the node's name) of `container`.");
  for (const Verb& verb : verbs) {
    auto op = library.op(verb.name);
    op.input("writer: resource");
    if (!verb.inputs.empty())
      op.input(verb.inputs);
    if (!verb.attrs.empty())
      op.attr(verb.attrs);
    op.stateful()
        .roles({Role::side_effect})
        .shape_fn(shape_none)
        .not_differentiable("it has no outputs")
        .cpu_kernel(verb.kernel, {.prepare = verb.prepare, .expensive = true})
        .doc(verb.doc);
  }
}

} // namespace troupe::io_summary_writer

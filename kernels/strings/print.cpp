// Print, PrintV2: tensors and text in the node's log or on its streams (core/base/prints.hpp),
// PrintV2 also in a file.
#include <algorithm>
#include <atomic>
#include <optional>

#include "core/base/log.hpp"
#include "core/base/prints.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/tensor_text.hpp"

namespace troupe::strings_print {
namespace {

struct Printer {
  std::string message;
  std::int64_t first_n = -1, summarize = 3;
  mutable std::atomic<std::int64_t> printed{0};
};

Result<std::shared_ptr<const void>> prepare_print(PrepareContext& c) {
  auto out = std::make_shared<Printer>();
  TROUPE_ASSIGN(out->message, c.attr<std::string>("message"));
  TROUPE_ASSIGN(out->first_n, c.attr<std::int64_t>("first_n"));
  TROUPE_ASSIGN(out->summarize, c.attr<std::int64_t>("summarize"));
  return std::shared_ptr<const void>(std::move(out));
}

Status print(KernelContext& c) {
  const auto& printer = c.prepared<Printer>();
  if (printer.first_n < 0 || printer.printed.fetch_add(1) < printer.first_n) {
    std::string line = printer.message;
    for (int i = 1; i < c.num_inputs(); ++i)
      str_append(line, "[", summarize_first(c.input(i), printer.summarize), "]");
    troupe::print(PrintStream::error, line, "\n");
  }
  c.output_entry(0) = std::move(c.input_entry(0));
  return {};
}

constexpr std::string_view file_scheme = "file://";

struct Stream {
  std::optional<LogLevel> level; ///< of a line of the log
  std::string file;              ///< where it is not empty
  PrintStream stream = PrintStream::error;
  std::string end;
};

Result<std::shared_ptr<const void>> prepare_print_v2(PrepareContext& c) {
  TROUPE_ASSIGN(const std::string stream, c.attr<std::string>("output_stream"));
  Stream out;
  TROUPE_ASSIGN(out.end, c.attr<std::string>("end"));
  if (stream.starts_with(file_scheme)) {
    out.file = stream.substr(file_scheme.size());
    return prepared(std::move(out));
  }
  constexpr std::string_view streams[] = {"stdout", "stderr", "log(info)", "log(warning)",
                                          "log(error)"};
  if (std::ranges::find(streams, stream) == std::end(streams))
    return invalid_argument(str_cat("Unknown output stream: ", stream,
                                    ", valid streams are: stdout, stderr, log(info), "
                                    "log(warning), log(error), or file://<filename>"));
  if (stream.starts_with("log"))
    out.level = stream == "log(error)"     ? LogLevel::error
                : stream == "log(warning)" ? LogLevel::warning
                                           : LogLevel::info;
  else if (stream == "stdout")
    out.stream = PrintStream::output;
  return prepared(std::move(out));
}

Status print_v2(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(
        str_cat("Input is expected to be scalar, but got ", c.input(0).shape()));
  const auto& stream = c.prepared<Stream>();
  const std::string& text = c.input(0).value<std::string>();
  if (!stream.file.empty()) {
    TROUPE_ASSIGN(AllowedFiles * allowed, files(c));
    return allowed->append_to(stream.file, str_cat(text, stream.end));
  }
  if (stream.level)
    log_line(*stream.level, text);
  else
    troupe::print(stream.stream, text, stream.end);
  return {};
}

Status infer_scalar(ShapeContext& c) {
  return c.require_rank(0, 0);
}

Status infer_first(ShapeContext& c) {
  return c.output_like(0, 0);
}

Status differentiate(GradContext& g) {
  return g.set_input_grad(0, g.output_grad(0));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Print")
      .input("input: T; data: U")
      .output("output: T")
      .attr("T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; "
            "summarize: int = 3")
      .stateful()
      .shape_fn(infer_first)
      .gradient(differentiate)
      .cpu_kernel(print, {.prepare = prepare_print})
      .doc("Its first input; `message` and the data go to the node's log, that of `troupe serve` "
           "to standard error, the first `first_n` times.");
  library.op("PrintV2")
      .input("input: string")
      .attr("output_stream: string = 'stderr'; end: string = '\\n'")
      .stateful()
      .roles({Role::side_effect})
      .shape_fn(infer_scalar)
      .not_differentiable("it has no outputs")
      .cpu_kernel(print_v2, {.prepare = prepare_print_v2})
      .doc(
          "The text goes to the node's log, that of `troupe serve` to the stream, or to the end of "
          "a file.");
}

} // namespace troupe::strings_print

// ReadFile, WriteFile, MatchingFiles: whole files of the folders that the node allows.
#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::io_whole_file {
namespace {

constexpr std::size_t most_matches = 1'000'000;

Status infer_scalars(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  return shape_scalar(c);
}

Status infer_nothing(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  return {};
}

Status infer_matching(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  return c.set_output(0, PartialShape{-1});
}

Status check_scalar(const KernelContext& c, int i) {
  if (c.input(i).shape().is_scalar())
    return {};
  return invalid_argument(str_cat("Input ",
                                  c.node().schema->inputs[static_cast<std::size_t>(i)].name,
                                  " tensor must be scalar, but had shape: ", c.input(i).shape()));
}

Status read(KernelContext& c) {
  TROUPE_TRY(check_scalar(c, 0));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  TROUPE_ASSIGN(auto file, files->open(c.input(0).value<std::string>()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  TROUPE_TRY(out.charge(static_cast<std::size_t>(file->size())));
  std::string& text = out.mutable_data<std::string>()[0];
  text.resize(static_cast<std::size_t>(file->size()));
  return file->read(0, std::as_writable_bytes(std::span(text)));
}

Status write(KernelContext& c) {
  for (int i : {0, 1})
    TROUPE_TRY(check_scalar(c, i));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  const auto& path = c.input(0).value<std::string>();
  TROUPE_TRY(files->make_folders(folder_of_path(path)));
  return files->put(path, c.input(1).value<std::string>());
}

Status match(KernelContext& c) {
  if (c.input(0).shape().rank() > 1)
    return invalid_argument(str_cat(
        "Input patterns tensor must be scalar or vector, but had shape: ", c.input(0).shape()));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  std::vector<std::string> found;
  for (const std::string& pattern : c.input(0).data<std::string>()) {
    TROUPE_ASSIGN(auto more, files->match(pattern, most_matches));
    found.insert(found.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  std::ranges::sort(found);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{static_cast<std::int64_t>(found.size())}));
  std::ranges::move(found, out.mutable_data<std::string>().begin());
  return {};
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ReadFile")
      .input("filename: string")
      .output("contents: string")
      .roles({Role::random})
      .shape_fn(infer_scalars)
      .not_differentiable("its value is text")
      .cpu_kernel(read, options())
      .doc("The bytes of a file.");
  library.op("WriteFile")
      .input("filename: string; contents: string")
      .roles({Role::side_effect})
      .stateful()
      .shape_fn(infer_nothing)
      .not_differentiable("it has no outputs")
      .cpu_kernel(write, options())
      .doc("Writes a file, whole or not at all; makes the folders above it.");
  library.op("MatchingFiles")
      .input("pattern: string")
      .output("filenames: string")
      .roles({Role::random})
      .shape_fn(infer_matching)
      .not_differentiable("its value is text")
      .cpu_kernel(match, options())
      .doc("Paths of the files that match a pattern, or one of several, sorted.");
}

} // namespace troupe::io_whole_file

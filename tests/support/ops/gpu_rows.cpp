#include "tests/support/ops/internal/gpu_rows.hpp"

#include <cstdlib>
#include <future>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/strings.hpp"
#include "devices/cuda/cuda_device.hpp"
#include "devices/host/device_host.hpp"
#include "tests/support/cuda/cuda_double.hpp"

namespace troupe::testing {
namespace {

/// One GPU for all rows, there until the process ends.
struct Board {
  DeviceHost host{1};
  std::optional<CudaDouble> driver; ///< nothing: the machine's
  std::shared_ptr<cuda::Gpu> gpu;
  std::unique_ptr<Device> device;
  std::size_t problems = 0; ///< that were reported

  Board() {
    const char* wanted = std::getenv("TROUPE_TEST_GPU");
    if (!wanted || std::string_view(wanted) != "real")
      driver.emplace();
    auto libraries =
        driver ? Result<cuda::Libraries>(driver->libraries()) : cuda::Libraries::open();
    TROUPE_CHECK(libraries.ok(), libraries.status().message());
    auto opened = cuda::Gpu::open(*libraries, 0);
    TROUPE_CHECK(opened.ok(), opened.status().message());
    gpu = *std::move(opened);
    device = cuda::make_device("/job:localhost/replica:0/task:0/device:GPU:0", gpu, *host.compute);
  }
};

Board& board() {
  static Board& made = *new Board;
  return made;
}

} // namespace

GpuRun::GpuRun(const std::vector<CaseInput>& inputs, const KernelDef& kernel, const CaseNode& node)
    : inputs_(inputs), device_(make_isolated_device(*board().device)) {
  auto on_host = in_host_memory(node.schema->inputs, kernel.options.host_inputs, node.attrs,
                                node.types.inputs);
  TROUPE_CHECK(on_host.ok(), on_host.status().message());
  entries_ = make_entries(inputs, device_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].tensor.has_value() && !(*on_host)[i])
      entries_[i].tensor = copied(entries_[i].tensor, true);
    if (auto variable = variable_of(inputs, entries_, static_cast<int>(i), device_))
      if (Tensor value = variable->snapshot(); value.has_value() && !is_object(value.dtype()))
        variable->assign(copied(value, true));
  }
  // So that nobody but the kernel holds its inputs, which it may then write.
  for (Stream* stream : {&board().gpu->compute(), &board().gpu->copies_in()})
    TROUPE_CHECK(stream->synchronize().ok(), "nothing has failed yet");
  variables_ = entries_;
  for (Entry& entry : variables_)
    entry.tensor = Tensor(); // so that plain inputs have one owner
}

Tensor GpuRun::copied(const Tensor& value, bool to_device) {
  std::promise<Result<Tensor>> answer;
  auto done = [&](Result<Tensor> copy) { answer.set_value(std::move(copy)); };
  if (to_device)
    device_.device().copy_to_device(value, device_.device().stream(), done);
  else
    device_.device().copy_to_host(value, device_.device().stream(), done);
  Result<Tensor> copy = answer.get_future().get();
  TROUPE_CHECK(copy.ok(), copy.status().message());
  return *std::move(copy);
}

void GpuRun::to_host(std::vector<Entry>& entries) {
  for (Entry& entry : entries) {
    if (entry.tensor.has_value() && entry.tensor.kind() == MemoryKind::device)
      entry.tensor = copied(entry.tensor, false);
    if (entry.ref)
      if (Tensor value = entry.ref->snapshot();
          value.has_value() && value.kind() == MemoryKind::device)
        entry.ref->assign(copied(value, false));
  }
}

void GpuRun::variables_to_host() {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (auto variable = variable_of(inputs_, variables_, static_cast<int>(i), device_))
      if (Tensor value = variable->snapshot();
          value.has_value() && value.kind() == MemoryKind::device)
        variable->assign(copied(value, false));
}

std::vector<std::string> GpuRun::end() {
  entries_.clear();
  variables_.clear();
  device_.device().resources().clear();
  std::vector<std::string> out;
  for (Stream* stream : {&board().gpu->compute(), &board().gpu->copies_in()})
    if (Status status = stream->synchronize(); !status.ok())
      out.push_back(status.message());
  if (board().gpu->memory().in_use() > 0)
    out.push_back(str_cat(board().gpu->memory().in_use(), " bytes were not given back"));
  if (!board().driver)
    return out;
  const auto problems = board().driver->problems();
  out.insert(out.end(), problems.begin() + static_cast<std::ptrdiff_t>(board().problems),
             problems.end());
  board().problems = problems.size();
  return out;
}

} // namespace troupe::testing

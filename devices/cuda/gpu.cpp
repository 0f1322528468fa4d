#include "devices/cuda/gpu.hpp"

#include <array>

#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/strings.hpp"

namespace troupe::cuda {

namespace {

constexpr double usual_fraction = 0.9;
constexpr int oldest_major = 7;

Result<GpuDescription> describe(const Driver& driver, Ordinal device) {
  GpuDescription out;
  std::array<char, 256> name{};
  std::size_t memory = 0;
  int pools = 0;
  auto ask = [&](int attribute, int& value) {
    return driver.cuDeviceGetAttribute(&value, attribute, device);
  };
  for (Outcome outcome :
       {driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
        driver.cuDeviceTotalMem_v2(&memory, device), ask(attribute_major, out.major),
        ask(attribute_minor, out.minor), ask(attribute_multiprocessors, out.multiprocessors),
        ask(attribute_memory_pools, pools)})
    if (outcome != success)
      return failure(driver, "asking for what a GPU is", outcome);
  out.name = name.data();
  out.memory = static_cast<std::int64_t>(memory);
  if (out.major < oldest_major || pools == 0)
    return failed_precondition(
        str_cat(out.name, " cannot be used: it has compute capability ", out.major, ".", out.minor,
                pools == 0 ? " and no memory pools" : "", "; 7.0 and memory pools are needed"));
  return out;
}

/// Whether the error leaves the context of no use: of memory that does not hold what it should, of
/// kernels that failed, of the board itself.
bool is_sticky(Outcome outcome) {
  constexpr Outcome ecc_uncorrectable = 214, illegal_address = 700, launch_timeout = 702,
                    context_destroyed = 709, assertion = 710, hardware_stack_error = 714,
                    launch_failed = 719, unknown = 999;
  return outcome == ecc_uncorrectable || outcome == illegal_address || outcome == launch_timeout ||
         outcome == context_destroyed || outcome == assertion ||
         (outcome >= hardware_stack_error && outcome <= launch_failed) || outcome == unknown;
}

} // namespace

Result<Libraries> Libraries::open() {
  TROUPE_ASSIGN(const Driver* driver, Driver::open());
  return Libraries{driver, BlasLibrary::open, DnnLibrary::open};
}

Result<std::shared_ptr<Gpu>> Gpu::open(const Libraries& libraries, Ordinal ordinal,
                                       const GpuSettings& settings) {
  const Driver& driver = *libraries.driver;
  int count = 0;
  if (Outcome outcome = driver.cuDeviceGetCount(&count); outcome != success)
    return failure(driver, "counting GPUs", outcome);
  if (ordinal < 0 || ordinal >= count)
    return failed_precondition(str_cat("there is no GPU ", ordinal, ": the driver knows ", count));
  std::shared_ptr<Gpu> gpu(new Gpu(libraries, ordinal));
  TROUPE_TRY(gpu->start(settings));
  return gpu;
}

Status Gpu::start(const GpuSettings& settings) {
  Ordinal device = 0;
  if (Outcome outcome = driver().cuDeviceGet(&device, ordinal_); outcome != success)
    return failure(driver(), str_cat("finding GPU ", ordinal_), outcome);
  TROUPE_ASSIGN(description_, describe(driver(), device));
  if (Outcome outcome = driver().cuDevicePrimaryCtxRetain(&context_, device); outcome != success) {
    context_ = nullptr;
    return failure(driver(), str_cat("taking GPU ", ordinal_, " into use"), outcome);
  }
  TROUPE_TRY(activate());
  const double fraction = settings.memory_fraction > 0 ? settings.memory_fraction : usual_fraction;
  memory_ = std::make_unique<GpuMemory>(
      *this, static_cast<std::int64_t>(static_cast<double>(description_.memory) * fraction));
  pinned_ = std::make_unique<PinnedMemory>(*this, settings.pinned_limit > 0 ? settings.pinned_limit
                                                                            : machine_memory() / 2);
  // Freed memory stays with the process: asking the system anew at every step costs more than a
  // kernel.
  MemoryPool pool = nullptr;
  std::uint64_t kept = UINT64_MAX;
  if (Outcome outcome = driver().cuDeviceGetDefaultMemPool(&pool, device); outcome != success)
    return failure(driver(), "finding a GPU's memory pool", outcome);
  if (Outcome outcome = driver().cuMemPoolSetAttribute(pool, pool_release_threshold, &kept);
      outcome != success)
    return failure(driver(), "setting up a GPU's memory pool", outcome);
  TROUPE_ASSIGN(compute_, CudaStream::make(*this, str_cat("GPU ", ordinal_)));
  TROUPE_ASSIGN(copies_in_, CudaStream::make(*this, str_cat("GPU ", ordinal_, "'s copies in")));
  TROUPE_ASSIGN(copies_out_, CudaStream::make(*this, str_cat("GPU ", ordinal_, "'s copies out")));
  return {};
}

void Gpu::end_waiting() {
  for (auto* stream : {&copies_in_, &copies_out_, &compute_})
    if (*stream)
      (*stream)->end_waiting();
}

Gpu::~Gpu() {
  if (!context_)
    return;
  end_waiting();
  if (activate().ok())
    for (auto& [image, module] : modules_)
      driver().cuModuleUnload(module);
  blas_ = nullptr;
  dnn_.reset();
  compute_ = nullptr;
  copies_in_ = nullptr;
  copies_out_ = nullptr;
  pinned_ = nullptr;
  Ordinal device = 0;
  if (driver().cuDeviceGet(&device, ordinal_) == success)
    driver().cuDevicePrimaryCtxRelease_v2(device);
}

Status Gpu::activate() const {
  // One call for each thread and GPU that it turns to.
  thread_local Context current = nullptr;
  thread_local const Driver* of = nullptr;
  if (current == context_ && of == &driver())
    return {};
  if (Outcome outcome = driver().cuCtxSetCurrent(context_); outcome != success)
    return failure(driver(), "turning to a GPU", outcome);
  current = context_;
  of = &driver();
  return {};
}

Result<Function> Gpu::function(const CodeImage& image, std::string_view name) {
  std::scoped_lock guard(modules_lock_);
  std::pair<const void*, std::string> key(&image, name);
  auto known = functions_.find(key);
  if (known != functions_.end())
    return known->second;
  TROUPE_TRY(activate());
  auto module = modules_.find(&image);
  if (module == modules_.end()) {
    Module loaded = nullptr;
    if (Outcome outcome = driver().cuModuleLoadData(&loaded, image.data); outcome != success)
      return unimplemented(
          str_cat("there is no code of ", image.name, " for ", description_.name,
                  " (compute capability ", description_.major, ".", description_.minor,
                  "): ", failure(driver(), "loading it", outcome).message(),
                  "; this build was made without nvcc, or with one that does not know the GPU"));
    module = modules_.emplace(&image, loaded).first;
  }
  Function found = nullptr;
  if (Outcome outcome = driver().cuModuleGetFunction(&found, module->second, key.second.c_str());
      outcome != success)
    return unimplemented(str_cat("the code of ", image.name, " has no kernel ", name, ": ",
                                 failure(driver(), "looking for it", outcome).message()));
  functions_.emplace(std::move(key), found);
  return found;
}

Result<Blas*> Gpu::blas() {
  std::scoped_lock guard(blas_lock_);
  if (!blas_) {
    TROUPE_ASSIGN(const BlasLibrary* library, libraries_.blas());
    TROUPE_ASSIGN(blas_, Blas::make(*this, *library));
  }
  return blas_.get();
}

Result<Dnn*> Gpu::dnn() {
  std::scoped_lock guard(dnn_lock_);
  if (!dnn_) {
    const auto start = [&]() -> Result<std::unique_ptr<Dnn>> {
      if (!libraries_.dnn)
        return failed_precondition("convolutions are to do without cuDNN");
      TROUPE_ASSIGN(const DnnLibrary* library, libraries_.dnn());
      return Dnn::make(*this, *library);
    };
    dnn_.emplace(start());
    if (!dnn_->ok())
      log_info(
          "convolutions on GPU ", ordinal_,
          " are computed as products of matrices, which takes longer: ", dnn_->status().message());
  }
  if (!dnn_->ok())
    return dnn_->status();
  return (*dnn_)->get();
}

Status Gpu::lost() const {
  if (!is_lost_.load(std::memory_order_acquire)) [[likely]]
    return {};
  std::scoped_lock guard(lost_lock_);
  return lost_;
}

bool Gpu::is_lost_by(const Status& error, Outcome outcome) {
  if (!is_sticky(outcome))
    return false;
  // Whichever call is told of it first, kernels run on one stream.
  const std::string suspects = compute_ ? compute_->suspects() : "";
  {
    std::scoped_lock guard(lost_lock_);
    if (!lost_.ok())
      return true;
    lost_ = internal(str_cat("GPU ", ordinal_, " (", description_.name,
                             ") is of no use any more until this process is started again: ",
                             error.message(), suspects));
  }
  is_lost_.store(true, std::memory_order_release);
  log_warning(lost_.message());
  return true;
}

} // namespace troupe::cuda

#include "devices/cuda/driver.hpp"

#include <dlfcn.h>

#include "core/base/strings.hpp"

namespace troupe::cuda {

namespace {

constexpr int oldest_version = 12000; // CUDA 12.0

Status not_there(std::string_view why) {
  return failed_precondition(str_cat("no GPU can be used: ", why));
}

Result<Driver> load() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return not_there(str_cat("NVIDIA's driver is not on this machine (", ::dlerror(),
                             "); `nvidia-smi` shows whether it is"));
  Driver out;
  const char* missing = nullptr;
#define TROUPE_CUDA_FIND(name, parameters)                                                         \
  if (!(out.name = reinterpret_cast<decltype(out.name)>(::dlsym(library, #name))))                 \
    missing = #name;
  TROUPE_CUDA_DRIVER_FUNCTIONS(TROUPE_CUDA_FIND)
#undef TROUPE_CUDA_FIND
  if (missing)
    return not_there(str_cat("NVIDIA's driver is too old, it has no ", missing,
                             "; install one for CUDA 12 or later"));
  if (Outcome outcome = out.cuInit(0); outcome != success)
    return not_there(failure(out, "starting NVIDIA's driver", outcome).message());
  int version = 0;
  if (Outcome outcome = out.cuDriverGetVersion(&version); outcome != success)
    return not_there(failure(out, "asking NVIDIA's driver for its version", outcome).message());
  if (version < oldest_version)
    return not_there(str_cat("NVIDIA's driver is for CUDA ", version / 1000, ".",
                             version % 1000 / 10, ", and 12.0 is needed"));
  return out;
}

} // namespace

Result<const Driver*> Driver::open() {
  static const Result<Driver> loaded = load();
  if (!loaded.ok())
    return loaded.status();
  return &*loaded;
}

Status failure(const Driver& driver, std::string_view what, Outcome outcome) {
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(outcome, &name) != success || !name)
    name = "unknown error";
  if (driver.cuGetErrorString(outcome, &text) != success || !text)
    text = "no text";
  std::string sentence = str_cat(what, " failed: ", text, " (", name, ")");
  return outcome == out_of_memory ? resource_exhausted(std::move(sentence))
                                  : internal(std::move(sentence));
}

} // namespace troupe::cuda

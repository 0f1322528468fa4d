#include "kernels/framework/files.hpp"

#include "core/base/strings.hpp"
#include "devices/file_host.hpp"
#include "storage/files/file_system.hpp"

namespace troupe {

Result<std::shared_ptr<AllowedFiles>> open_files(const std::vector<std::string>& folders) {
  if (!folders.empty())
    return AllowedFiles::make(folders, local_files());
  auto working = AllowedFiles::make({"."}, local_files());
  return working.ok() ? working : AllowedFiles::make({}, local_files());
}

Status no_files(std::string_view device) {
  return permission_denied(str_cat(device, " has no files: its node was started without any folder "
                                           "that graphs may use"));
}

Result<AllowedFiles*> files(const KernelContext& c) {
  if (AllowedFiles* out = files_of(c.device()).get()) // lives as long as the device
    return out;
  return no_files(c.device().name());
}

Result<std::string> scalar_text(const KernelContext& c, int i, std::string_view what) {
  const Tensor& value = c.input(i);
  if (value.num_elements() != 1)
    return invalid_argument(
        str_cat(what, " should have exactly one element, got shape ", value.shape()));
  return value.value<std::string>();
}

} // namespace troupe

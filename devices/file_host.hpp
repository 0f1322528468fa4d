// FileHost: a device whose kernels may use the machine's files.
#pragma once

#include <memory>

namespace troupe {

class AllowedFiles;
class Device;

/// Implemented beside Device, by those whose kernels run on the host.
class FileHost {
public:
  virtual ~FileHost() = default;
  /// The files that kernels may use; null: none.
  const std::shared_ptr<AllowedFiles>& files() const { return files_; }
  /// Before the device is used.
  void allow_files(std::shared_ptr<AllowedFiles> files) { files_ = std::move(files); }

private:
  std::shared_ptr<AllowedFiles> files_;
};

/// Sets the files of a FileHost; does nothing for other devices.
void allow_files(Device& device, std::shared_ptr<AllowedFiles> files);
/// Those of a device; null if it has none, or is no FileHost.
std::shared_ptr<AllowedFiles> files_of(const Device& device);

} // namespace troupe

// The machine's files: what a node allows, and how a kernel reaches it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/framework/context.hpp"
#include "storage/files/allowed_files.hpp"

namespace troupe {

/// Of the machine, below `folders`: absolute paths, or relative to the process's working folder.
/// Empty: that folder, or none if somebody has removed it. NOT_FOUND for one that is not there.
Result<std::shared_ptr<AllowedFiles>> open_files(const std::vector<std::string>& folders);

/// Those of the kernel's device. PERMISSION_DENIED where its node allows none.
Result<AllowedFiles*> files(const KernelContext& c);
/// What is said there, of the device of that name.
Status no_files(std::string_view device);

/// The only string of input i. INVALID_ARGUMENT, naming the input as `what`, for another shape.
Result<std::string> scalar_text(const KernelContext& c, int i, std::string_view what);

} // namespace troupe

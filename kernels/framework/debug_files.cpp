#include "kernels/framework/debug_files.hpp"

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "devices/device.hpp"
#include "devices/file_host.hpp"
#include "storage/files/allowed_files.hpp"

namespace troupe {

namespace {

template <class Dump>
Status for_each_folder(const Device& device, const std::vector<std::string>& urls, Dump dump) {
  const auto files = files_of(device);
  if (!files)
    return permission_denied(
        str_cat(device.name(),
                " has no files that a debugger could be told by: its node was started without "
                "any folder that graphs may use"));
  for (const std::string& url : urls) {
    TROUPE_ASSIGN(const std::string root, dump_folder_of(url));
    TROUPE_TRY(dump(*files, root));
  }
  return {};
}

} // namespace

Status tell_debugger_of_graph(const Device& device, const std::vector<std::string>& urls,
                              std::string_view graph_def) {
  return for_each_folder(device, urls, [&](AllowedFiles& files, const std::string& root) {
    return dump_graph(files, root, device.name(), graph_def, wall_micros());
  });
}

Status tell_debugger_of_run(const Device& device, const std::vector<std::string>& urls,
                            const DumpedRun& run) {
  return for_each_folder(device, urls, [&](AllowedFiles& files, const std::string& root) {
    return dump_run(files, root, run, wall_micros());
  });
}

} // namespace troupe

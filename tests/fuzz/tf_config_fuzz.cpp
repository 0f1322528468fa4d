// A cluster as TensorFlow's users write it, and as another task asks this one to join it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "core/base/device_name.hpp"
#include "net/cluster/cluster_spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto spec = parse_tf_config(text);
  if (!spec.ok()) {
    TROUPE_CHECK(!spec.status().message().empty(), "a refusal says why");
    return 0;
  }
  if (spec->cluster.size() == 0 || spec->task < 0 ||
      !spec->cluster.contains(task_name(spec->job, spec->task)))
    return 0;
  auto back = parse_tf_config(write_tf_config(*spec));
  TROUPE_CHECK(back.ok() && back->cluster.tasks() == spec->cluster.tasks() &&
                   back->job == spec->job && back->task == spec->task,
               "what is written is read");
  return 0;
}

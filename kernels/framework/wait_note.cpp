#include "kernels/framework/wait_note.hpp"

#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::string_view container = "waits";

class WaitNote final : public Resource {
public:
  explicit WaitNote(WaitText text) : text_(std::move(text)) {}
  std::string description() const override { return text_(); }

private:
  WaitText text_;
};

std::string name_of(const WaitPlace& place) {
  return str_cat(place.frame, " ", place.iteration, " ", place.node);
}

} // namespace

void note_wait(ResourceManager& step, const WaitPlace& place, WaitText text) {
  (void)step.lookup_or_create<WaitNote>(container, name_of(place),
                                        [&]() -> Result<std::shared_ptr<WaitNote>> {
                                          return std::make_shared<WaitNote>(std::move(text));
                                        });
}

void forget_wait(ResourceManager& step, const WaitPlace& place) {
  (void)step.remove<WaitNote>(container, name_of(place));
}

std::string noted_wait(ResourceManager& step, const WaitPlace& place) {
  const auto note = step.lookup<WaitNote>(container, name_of(place));
  return note.ok() ? (*note)->description() : std::string();
}

} // namespace troupe

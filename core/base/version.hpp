// The release that this tree makes; CMakeLists.txt reads it from here.
#pragma once

namespace troupe {

inline constexpr const char* version = "0.1.0";

} // namespace troupe

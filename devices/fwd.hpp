// Forward declarations of devices.
#pragma once

namespace troupe {
class Device;
class DeviceSet;
class Stream;
class ComputePool;
class Resource;
class ResourceManager;
class Variable;
class CachingAllocator;
struct DeviceAttributes;
} // namespace troupe

// StringToHashBucket, -Fast, -Strong: texts as numbers of buckets, by MurmurHash64A, FarmHash's
// Fingerprint64 and SipHash-2-4.
#include "core/base/murmur_hash.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/hashes.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_hash_bucket {
namespace {

struct Buckets {
  std::uint64_t count = 1;
  std::uint64_t key[2] = {0, 0}; ///< Strong's
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Buckets out;
  TROUPE_ASSIGN(const auto count, c.attr<std::int64_t>("num_buckets"));
  out.count = static_cast<std::uint64_t>(count);
  if (auto key = c.attr<std::vector<std::int64_t>>("key"); key.ok()) {
    if (key->size() != 2)
      return invalid_argument("Key must have 2 elements");
    for (std::size_t i : {0, 1})
      out.key[i] = static_cast<std::uint64_t>((*key)[i]);
  }
  return prepared(out);
}

template <class Hash>
Status compute(KernelContext& c, Hash hash) {
  const auto& buckets = c.prepared<Buckets>();
  return strings::map_text<std::int64_t>(c, [&](const std::string& text) {
    return static_cast<std::int64_t>(hash(text, buckets) % buckets.count);
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StringToHashBucket")
      .input("string_tensor: string")
      .output("output: int64")
      .attr("num_buckets: int >= 1")
      .shape_fn(shape_unchanged)
      .not_differentiable("it counts buckets")
      .cpu_kernel(
          [](KernelContext& c) {
            return compute(
                c, [](const std::string& text, const Buckets&) { return murmur_hash(text); });
          },
          {.prepare = prepare})
      .doc("A hash of each text, modulo `num_buckets`.");
  library.op("StringToHashBucketFast")
      .input("input: string")
      .output("output: int64")
      .attr("num_buckets: int >= 1")
      .shape_fn(shape_unchanged)
      .not_differentiable("it counts buckets")
      .cpu_kernel(
          [](KernelContext& c) {
            return compute(c, [](const std::string& text, const Buckets&) {
              return strings::farm_fingerprint(text);
            });
          },
          {.prepare = prepare})
      .doc("A fast hash of each text, modulo `num_buckets`.");
  library.op("StringToHashBucketStrong")
      .input("input: string")
      .output("output: int64")
      .attr("num_buckets: int >= 1; key: list(int)")
      .shape_fn(shape_unchanged)
      .not_differentiable("it counts buckets")
      .cpu_kernel(
          [](KernelContext& c) {
            return compute(c, [](const std::string& text, const Buckets& buckets) {
              return strings::sip_hash(buckets.key[0], buckets.key[1], text);
            });
          },
          {.prepare = prepare})
      .doc("A hash of each text that nobody foresees who has not the two numbers of `key`, modulo "
           "`num_buckets`.");
}

} // namespace troupe::strings_hash_bucket

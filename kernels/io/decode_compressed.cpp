// DecodeCompressed: texts that zlib or gzip has compressed.
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "storage/streams/byte_source.hpp"

namespace troupe::io_decode_compressed {
namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::int32_t>::max(); // of one text

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const auto name, c.attr<std::string>("compression_type"));
  if (!name.empty() && name != "ZLIB" && name != "GZIP")
    return invalid_argument("Only ZLIB, GZIP or NONE are supported compressions");
  TROUPE_ASSIGN(const Compression how, parse_compression(name));
  return prepared(how);
}

Status compute(KernelContext& c) {
  const auto how = c.prepared<Compression>();
  if (how == Compression::none)
    return c.set_output(0, c.input(0));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const auto from = c.input(0).data<std::string>();
  const auto to = out.mutable_data<std::string>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto bytes = decompressed(read_in_order(from[i]), how);
    TROUPE_TRY(append_bytes(*bytes, most_bytes, to[i], [&](std::size_t more) {
                 c.stop_if_cancelled();
                 return out.charge(more);
               }).status());
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DecodeCompressed")
      .input("bytes: string")
      .output("output: string")
      .attr("compression_type: string = ''")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel(compute, {.prepare = prepare, .expensive = true})
      .doc("The texts that were compressed by zlib (RFC 1950) or gzip (RFC 1952). One that is cut "
           "off "
           "gives what there is of it.");
}

} // namespace troupe::io_decode_compressed

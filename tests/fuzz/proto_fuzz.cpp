// The first byte chooses: a message of every type of field as bytes, as bytes to be sanitized or as
// text; or descriptors.
#include <cstddef>
#include <cstdint>

#include "kernels/parsing/testing/descriptors.hpp"
#include "tests/fuzz/parsing_ops.hpp"

namespace troupe {
namespace {

using Texts = std::vector<std::string>;
using Types = std::vector<DType>;

const Texts names = {"i32", "p32", "rs", "f", "u64", "sub", "s32", "f32", "bo", "g", "d"};
const Types types = {DType::int64,  DType::int32,  DType::string, DType::float64,
                     DType::uint64, DType::string, DType::int32,  DType::uint32,
                     DType::bool_,  DType::string, DType::float64};

Result<std::vector<Tensor>> decode(Bench& bench, Tensor messages, bool is_text, bool sanitizes) {
  AttrMap attrs{{"message_type", std::string("p.M")},
                {"field_names", names},
                {"output_types", types},
                {"descriptor_source", "bytes://" + testing::every_type()},
                {"message_format", std::string(is_text ? "text" : "binary")},
                {"sanitize", sanitizes}};
  return run_one(bench, parsing_ops(), "DecodeProtoV2", std::move(attrs), {std::move(messages)});
}

/// What was read is written, and read again the same.
void check_written(Bench& bench, const std::vector<Tensor>& read) {
  AttrMap attrs{{"message_type", std::string("p.M")},
                {"field_names", names},
                {"Tinput_types", types},
                {"descriptor_source", "bytes://" + testing::every_type()}};
  const auto written = run_one(bench, parsing_ops(), "EncodeProto", std::move(attrs), read);
  TROUPE_CHECK(written.ok(), "what was read can be written");
  const auto again = decode(bench, (*written)[0], false, false);
  TROUPE_CHECK(again.ok() && again->size() == read.size(), "what was written can be read");
  for (std::size_t i = 0; i < read.size(); ++i)
    TROUPE_CHECK(equal((*again)[i], read[i]), "it is the same");
}

void read_descriptors(const std::string& bytes) {
  const auto schema = MessageSchema::read(bytes, "p.M");
  if (schema.ok())
    (void)(*schema)->field("a");
}

} // namespace
} // namespace troupe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  static Bench bench;
  if (size == 0)
    return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int choice = data[0] % 4;
  if (choice == 3) {
    read_descriptors(bytes);
    return 0;
  }
  const auto read =
      decode(bench, Tensor::vector<std::string>({bytes, ""}), choice == 2, choice == 1);
  if (read.ok())
    check_written(bench, *read);
  return 0;
}

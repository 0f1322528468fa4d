// WholeFileReader, TextLineReader, FixedLengthRecordReader, TFRecordReader, IdentityReader,
// LMDBReader: each finds its reader, or makes it, and gives the handle.
#include "core/base/strings.hpp"
#include "devices/file_host.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/io/internal/reader.hpp"

namespace troupe::io_readers {
namespace {

using io::Reader;

struct Kept {
  NodeResource resource;
  /// Of the reader's files: made of what opens them.
  std::function<io::OpenRecords(io::OpenBytes)> records;
  std::string kind;
  bool has_state = false;
};

/// The op's name without its version.
std::string kind_of(const PrepareContext& c) {
  std::string kind = c.schema().name;
  if (kind.ends_with("V2"))
    kind.resize(kind.size() - 2);
  return kind;
}

Result<Kept> keep(PrepareContext& c) {
  Kept kept;
  TROUPE_ASSIGN(kept.resource, private_resource(c));
  kept.kind = kind_of(c);
  return kept;
}

/// INVALID_ARGUMENT "header_bytes must be >= 0 not -1".
Result<std::int64_t> not_negative(PrepareContext& c, std::string_view name) {
  TROUPE_ASSIGN(const auto value, c.attr<std::int64_t>(name));
  if (value < 0)
    return invalid_argument(str_cat(name, " must be >= 0 not ", value));
  return value;
}

Result<std::shared_ptr<const void>> prepare_whole_file(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c));
  kept.has_state = true;
  kept.records = io::whole_file_records;
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> prepare_identity(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c));
  kept.has_state = true;
  kept.records = [](const io::OpenBytes&) { return io::identity_records(); };
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> prepare_lines(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c));
  TROUPE_ASSIGN(const std::int64_t skipped, not_negative(c, "skip_header_lines"));
  kept.records = [skipped](io::OpenBytes open) {
    return io::line_records(std::move(open), skipped);
  };
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> prepare_tf_records(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c));
  TROUPE_ASSIGN(const auto compression,
                parse_compression(c.attrs().get_or<std::string>("compression_type", "")));
  kept.records = [compression](io::OpenBytes open) {
    return io::tf_records(std::move(open), compression);
  };
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> prepare_fixed_length(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c));
  io::FixedLengths lengths;
  TROUPE_ASSIGN(lengths.header, not_negative(c, "header_bytes"));
  TROUPE_ASSIGN(lengths.record, not_negative(c, "record_bytes"));
  TROUPE_ASSIGN(lengths.footer, not_negative(c, "footer_bytes"));
  TROUPE_ASSIGN(lengths.hop, not_negative(c, "hop_bytes"));
  TROUPE_ASSIGN(const auto compression,
                parse_compression(c.attrs().get_or<std::string>("encoding", "")));
  kept.records = [lengths, compression](io::OpenBytes open) {
    return io::fixed_length_records(std::move(open), lengths, compression);
  };
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> refuse_lmdb(PrepareContext&) {
  return unimplemented("LMDB databases cannot be read here: their library trusts what is in the "
                       "file. Write the records to TFRecord files, and read them with "
                       "TFRecordReader");
}

/// Opens files of the device that the reader is on, for as long as the reader lives.
io::OpenBytes open_bytes(KernelContext& c) {
  return [files = files_of(c.device()), device = c.device().name()](
             const std::string& file) -> Result<std::unique_ptr<StorageReader>> {
    if (!files)
      return no_files(device);
    return files->open(file);
  };
}

Status compute(KernelContext& c) {
  const auto& kept = c.prepared<Kept>();
  return node_resource<Reader>(c, kept.resource,
                               [&](const std::string&) -> Result<std::shared_ptr<Reader>> {
                                 Reader::Spec spec{.kind = kept.kind,
                                                   .node = c.node_name(),
                                                   .open = kept.records(open_bytes(c)),
                                                   .has_state = kept.has_state};
                                 return std::make_shared<Reader>(std::move(spec),
                                                                 c.device().host_side_allocator(),
                                                                 c.device().compute());
                               })
      .status();
}

struct Kind {
  std::string_view name, attrs, doc;
  PrepareFn prepare;
  std::string_view attrs_of_v2 = {};
};

constexpr Kind kinds[] = {
    {"WholeFileReader", "", "A reader whose records are whole files, with their names as keys.",
     prepare_whole_file},
    {"TextLineReader", "skip_header_lines: int = 0",
     "A reader of lines, with keys FILE:LINE. Of each file `skip_header_lines` are left out.",
     prepare_lines},
    {"FixedLengthRecordReader",
     "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0",
     "A reader of records of one size, with keys FILE:NUMBER, between a header and a footer.",
     prepare_fixed_length, "encoding: string = ''"},
    {"TFRecordReader", "compression_type: string = ''",
     "A reader of TFRecord files, with keys FILE:OFFSET.", prepare_tf_records},
    {"IdentityReader", "", "A reader whose records are the names of the files.", prepare_identity},
};

} // namespace

void register_ops(OpLibrary& library) {
  for (const Kind& kind : kinds)
    for (const bool v2 : {false, true}) {
      auto op = library.op(str_cat(kind.name, v2 ? "V2" : ""));
      op.output(v2 ? "reader_handle: resource" : "reader_handle: Ref(string)")
          .attr("container: string = ''; shared_name: string = ''")
          .stateful()
          .shape_fn(shape_of_handle)
          .not_differentiable("a handle has no gradient")
          .cpu_kernel(compute, {.prepare = kind.prepare})
          .doc(kind.doc);
      if (!kind.attrs.empty())
        op.attr(kind.attrs);
      if (v2 && !kind.attrs_of_v2.empty())
        op.attr(kind.attrs_of_v2);
    }
  library.op("LMDBReader")
      .output("reader_handle: Ref(string)")
      .attr("container: string = ''; shared_name: string = ''")
      .stateful()
      .shape_fn(shape_of_handle)
      .not_differentiable("a handle has no gradient")
      .cpu_kernel(compute, {.prepare = refuse_lmdb})
      .doc("Refused: LMDB databases are not read.");
}

} // namespace troupe::io_readers

// DatasetToTFRecord: the elements of a dataset, texts, as the records of a TFRecord file.
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"
#include "storage/records/records.hpp"

namespace troupe::data_to_tf_record {

using namespace data;

namespace {

Async<Status> write(KernelContext& c, std::shared_ptr<Iteration> iteration,
                    std::unique_ptr<StorageWriter> file, Compression how) {
  const PipelineNote note(c, iteration->pipeline());
  ElementPull pull(iteration->pipeline(), c.cancellation());
  RecordWriter records([&file](std::span<const std::byte> bytes) { return file->append(bytes); },
                       how);
  for (;;) {
    TROUPE_CO_TRY(co_await pull.breathe());
    TROUPE_CO_ASSIGN(std::optional<Element> element, co_await iteration->next(c.cancellation()));
    if (!element)
      break;
    TROUPE_CO_TRY(check_element({DType::string}, {PartialShape(Shape{})}, *element));
    TROUPE_CO_TRY(records.write((*element)[0].value<std::string>()));
  }
  TROUPE_CO_TRY(records.finish());
  co_return file->commit();
}

void write_records(KernelContext& c, KernelDone done) {
  with_iteration(
      c, std::move(done),
      [](KernelContext& in, std::shared_ptr<Iteration> iteration) -> Result<Async<Status>> {
        TROUPE_ASSIGN(const auto name, scalar_input<std::string>(in, 1));
        TROUPE_ASSIGN(const auto compression, scalar_input<std::string>(in, 2));
        TROUPE_ASSIGN(const Compression how, parse_compression(compression));
        const auto& types = iteration->dataset()->types();
        if (types.size() != 1)
          return invalid_argument(str_cat("ToTFRecordOp currently only support datasets of 1 "
                                          "single column, but got ",
                                          types.size()));
        if (types[0] != DType::string)
          return invalid_argument(str_cat("ToTFRecordOp currently only supports DT_STRING "
                                          "dataypes, but got ",
                                          to_string(AttrValue(types[0]))));
        TROUPE_ASSIGN(AllowedFiles * files, troupe::files(in));
        TROUPE_ASSIGN(auto file, files->write(name));
        return write(in, std::move(iteration), std::move(file), how);
      });
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const char* name : {"DatasetToTFRecord", "ExperimentalDatasetToTFRecord"})
    library.op(name)
        .input("input_dataset: variant; filename: string; compression_type: string")
        .stateful()
        .roles({Role::side_effect, Role::blocks})
        .shape_fn([](ShapeContext& c) -> Status {
          TROUPE_TRY(c.require_rank(1, 0));
          return c.require_rank(2, 0);
        })
        .not_differentiable(no_gradient)
        .cpu_kernel_async(write_records)
        .doc("Writes the elements, texts, as the records of a TFRecord file, whole or not at all.");
}

} // namespace troupe::data_to_tf_record

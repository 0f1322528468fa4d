#include "examples/fashion_mnist/dataset.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"
#include "examples/fashion_mnist/idx_file.hpp"

namespace troupe::fashion_mnist {

namespace {

Result<Examples> load(const std::string& folder, std::string_view part) {
  std::string base = str_cat(folder, "/", part, "-");
  TROUPE_ASSIGN(Tensor images, read_idx(base + "images-idx3-ubyte.gz"));
  TROUPE_ASSIGN(Tensor labels, read_idx(base + "labels-idx1-ubyte.gz"));
  constexpr std::int64_t pixels = picture_side * picture_side;
  if (images.shape().rank() != 3 || labels.shape().rank() != 1 ||
      images.num_elements() != labels.num_elements() * pixels)
    return invalid_argument(str_cat("'", base, "images…' has shape ", images.shape(),
                                    ", expected [", labels.num_elements(), ",28,28]"));
  Examples out;
  out.images = images.reshaped({labels.num_elements(), pixels});
  out.labels = Tensor::make(DType::int64, labels.shape());
  auto from = labels.data<std::uint8_t>();
  std::copy(from.begin(), from.end(), out.labels.mutable_data<std::int64_t>().begin());
  return out;
}

} // namespace

Result<Dataset> load_dataset(const std::string& folder) {
  Dataset out;
  TROUPE_ASSIGN(out.train, load(folder, "train"));
  TROUPE_ASSIGN(out.test, load(folder, "t10k"));
  return out;
}

Batches::Batches(const Examples& examples, std::int64_t batch, int share, int shares)
    : examples_(examples), batch_(batch), random_(static_cast<unsigned>(share) + 1) {
  for (std::int64_t i = share; i < examples.size(); i += shares)
    order_.push_back(i);
  std::shuffle(order_.begin(), order_.end(), random_);
}

Examples Batches::next() {
  auto batch = static_cast<std::size_t>(batch_);
  if (at_ + batch > order_.size()) {
    std::shuffle(order_.begin(), order_.end(), random_);
    at_ = 0;
  }
  std::int64_t pixels = examples_.images.shape()[1];
  Examples out{Tensor::make(DType::uint8, {batch_, pixels}), Tensor::make(DType::int64, {batch_})};
  const std::uint8_t* from = examples_.images.data<std::uint8_t>().data();
  std::uint8_t* to = out.images.mutable_data<std::uint8_t>().data();
  auto labels = out.labels.mutable_data<std::int64_t>();
  for (std::size_t i = 0; i < batch; ++i) {
    std::int64_t row = order_[at_ + i];
    std::memcpy(to + static_cast<std::int64_t>(i) * pixels, from + row * pixels,
                static_cast<std::size_t>(pixels));
    labels[i] = examples_.labels.data<std::int64_t>()[static_cast<std::size_t>(row)];
  }
  at_ += batch;
  return out;
}

} // namespace troupe::fashion_mnist

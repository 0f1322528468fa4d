#include "core/base/status.hpp"

#include "core/base/check.hpp"
#include "core/base/strings.hpp"

namespace troupe {

std::string_view to_string(Code code) {
  switch (code) {
  case Code::ok:
    return "OK";
  case Code::cancelled:
    return "CANCELLED";
  case Code::unknown:
    return "UNKNOWN";
  case Code::invalid_argument:
    return "INVALID_ARGUMENT";
  case Code::deadline_exceeded:
    return "DEADLINE_EXCEEDED";
  case Code::not_found:
    return "NOT_FOUND";
  case Code::already_exists:
    return "ALREADY_EXISTS";
  case Code::permission_denied:
    return "PERMISSION_DENIED";
  case Code::resource_exhausted:
    return "RESOURCE_EXHAUSTED";
  case Code::failed_precondition:
    return "FAILED_PRECONDITION";
  case Code::aborted:
    return "ABORTED";
  case Code::out_of_range:
    return "OUT_OF_RANGE";
  case Code::unimplemented:
    return "UNIMPLEMENTED";
  case Code::internal:
    return "INTERNAL";
  case Code::unavailable:
    return "UNAVAILABLE";
  case Code::data_loss:
    return "DATA_LOSS";
  case Code::unauthenticated:
    return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

Status::Status(Code code, std::string message) {
  TROUPE_CHECK(code != Code::ok, "an ok Status carries no message");
  rep_ = std::make_shared<const Rep>(Rep{code, false, std::move(message), {}});
}

const std::string& Status::message() const noexcept {
  static const std::string none;
  return rep_ ? rep_->message : none;
}

const Origin& Status::origin() const noexcept {
  static const Origin none;
  return rep_ ? rep_->origin : none;
}

Status Status::with_origin(Origin origin) const {
  if (ok() || !rep_->origin.empty())
    return *this;
  Rep copy = *rep_;
  copy.origin = std::move(origin);
  Status out;
  out.rep_ = std::make_shared<const Rep>(std::move(copy));
  return out;
}

Status Status::as_derived() const {
  if (ok() || rep_->derived)
    return *this;
  Rep copy = *rep_;
  copy.derived = true;
  Status out;
  out.rep_ = std::make_shared<const Rep>(std::move(copy));
  return out;
}

Status Status::with_context(std::string_view context) const {
  if (ok())
    return *this;
  Rep copy = *rep_;
  copy.message = str_cat(context, ": ", copy.message);
  Status out;
  out.rep_ = std::make_shared<const Rep>(std::move(copy));
  return out;
}

std::string Status::to_string() const {
  if (ok())
    return "OK";
  std::string out = str_cat(troupe::to_string(code()), ": ", message());
  const Origin& o = origin();
  if (o.empty())
    return out;
  out += " [";
  std::string_view separator;
  if (!o.node.empty()) {
    out += str_cat("node '", o.node, "'");
    if (!o.op.empty())
      out += str_cat(" (", o.op, ")");
    separator = " ";
  }
  if (!o.device.empty()) {
    out += str_cat(separator, "on ", o.device);
    separator = ", ";
  }
  if (o.step != 0)
    out += str_cat(separator == " " ? ", " : separator, "step ", o.step);
  return out + "]";
}

BadAccess::BadAccess(Status status)
    : status_(std::move(status)), text_(std::make_shared<const std::string>(status_.to_string())) {}

namespace detail {

void throw_bad_access(Status status) {
  throw BadAccess(std::move(status));
}

} // namespace detail

Status cancelled(std::string m) {
  return {Code::cancelled, std::move(m)};
}
Status unknown(std::string m) {
  return {Code::unknown, std::move(m)};
}
Status invalid_argument(std::string m) {
  return {Code::invalid_argument, std::move(m)};
}
Status deadline_exceeded(std::string m) {
  return {Code::deadline_exceeded, std::move(m)};
}
Status not_found(std::string m) {
  return {Code::not_found, std::move(m)};
}
Status already_exists(std::string m) {
  return {Code::already_exists, std::move(m)};
}
Status permission_denied(std::string m) {
  return {Code::permission_denied, std::move(m)};
}
Status resource_exhausted(std::string m) {
  return {Code::resource_exhausted, std::move(m)};
}
Status failed_precondition(std::string m) {
  return {Code::failed_precondition, std::move(m)};
}
Status aborted(std::string m) {
  return {Code::aborted, std::move(m)};
}
Status out_of_range(std::string m) {
  return {Code::out_of_range, std::move(m)};
}
Status unimplemented(std::string m) {
  return {Code::unimplemented, std::move(m)};
}
Status internal(std::string m) {
  return {Code::internal, std::move(m)};
}
Status unavailable(std::string m) {
  return {Code::unavailable, std::move(m)};
}
Status data_loss(std::string m) {
  return {Code::data_loss, std::move(m)};
}

} // namespace troupe

// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_parser.h"

#include <optional>

#include "base/json.h"
#include "cluster/json_text.h"
#include "kube/decode.h"
#include "kube/field_numbers.h"

namespace tutti::kube {
namespace {

constexpr size_t kPrefix = 4;
constexpr size_t kLargestFrame = 64u << 20;  // an object is a few MiB at most

std::optional<WatchType> ParseType(std::string_view word) {
  if (word == "ADDED") return WatchType::kAdded;
  if (word == "MODIFIED") return WatchType::kModified;
  if (word == "DELETED") return WatchType::kDeleted;
  if (word == "BOOKMARK") return WatchType::kBookmark;
  if (word == "ERROR") return WatchType::kError;
  return std::nullopt;
}

size_t PrefixedSize(std::string_view data) {
  size_t size = 0;
  for (size_t i = 0; i < kPrefix; ++i) size = size << 8 | static_cast<unsigned char>(data[i]);
  return size;
}

}  // namespace

WireObject WireObject::Json(base::Json object) {
  WireObject result;
  result.json = std::make_shared<base::Json>(std::move(object));
  return result;
}

size_t WatchParser::FrameSize(std::string_view data) const {
  if (!protobuf_) {
    const size_t newline = data.find('\n');
    return newline == data.npos ? 0 : newline + 1;
  }
  if (data.size() < kPrefix) return 0;
  const size_t size = kPrefix + PrefixedSize(data);
  return size <= data.size() ? size : 0;
}

bool WatchParser::ParseFrame(std::string_view frame, Each& each) const {
  if (protobuf_) {
    std::string_view word, object;
    WireReader r(frame.substr(kPrefix));
    while (r.Next()) {
      if (r.field() == field::WatchEvent::kType) word = r.bytes();
      if (r.field() == field::WatchEvent::kObject) object = FindBytes(r.bytes(), field::RawExtension::kRaw);
    }
    const auto type = ParseType(word);
    const auto envelope = OpenEnvelope(object);
    if (!r.ok() || !type || !envelope) return false;
    each(*type, WireObject{envelope->kind, envelope->raw, nullptr});
    return true;
  }
  if (frame == "\n" || frame == "\r\n") return true;
  auto event = cluster::ParseObject(frame);
  if (!event.is_object() || !event["type"].is_string() || !event["object"].is_object()) return false;
  const auto type = ParseType(event["type"].get_ref<const std::string&>());
  if (!type) return false;
  WireObject object = WireObject::Json(std::move(event["object"]));
  if (const auto kind = object.json->find("kind"); kind != object.json->end() && kind->is_string())
    object.kind = kind->get_ref<const std::string&>();
  each(*type, std::move(object));
  return true;
}

bool WatchParser::Feed(std::string_view piece, Each& each) {
  // Complete frames are parsed in place; only an incomplete one at the end of a piece is copied.
  if (!pending_.empty()) {
    pending_.append(piece);
    piece = pending_;
  }
  size_t used = 0;
  while (const size_t size = FrameSize(piece.substr(used))) {
    if (!ParseFrame(piece.substr(used, size), each)) return false;
    used += size;
  }
  const std::string_view rest = piece.substr(used);
  if (!protobuf_ && rest.size() > kLargestFrame) return false;
  if (protobuf_ && rest.size() >= kPrefix && PrefixedSize(rest) > kLargestFrame) return false;
  if (pending_.empty())
    pending_.assign(rest);
  else
    pending_.erase(0, used);
  return true;
}

}  // namespace tutti::kube

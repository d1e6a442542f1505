// SPDX-License-Identifier: Apache-2.0
#include "app/listing.h"

#include "kube/api_path.h"

namespace tutti::app {

std::string PathOf(const Listing& listing) {
  std::string query;
  const auto add = [&query](const char* field, const std::string& value) {
    if (!value.empty()) query += (query.empty() ? "?" : "&") + std::string(field) + "=" + kube::Escape(value);
  };
  add("name", listing.name);
  if (listing.kind == Listing::Kind::kGangs) {
    add("namespace", listing.ns);
    add("queue", listing.queue);
    add("state", listing.state);
  }
  return WordOf(listing.kind) + "s" + query;
}

std::string WordOf(Listing::Kind kind) {
  switch (kind) {
    case Listing::Kind::kGangs: return "gang";
    case Listing::Kind::kQueues: return "queue";
    case Listing::Kind::kNodes: return "node";
  }
  return "";
}

Table TableOf(const Listing& listing, const base::Json& answer, base::Millis now_ms) {
  switch (listing.kind) {
    case Listing::Kind::kQueues: return QueueTable(answer, listing.columns.width);
    case Listing::Kind::kNodes: return NodeTable(answer, listing.columns.width);
    case Listing::Kind::kGangs: break;
  }
  return GangTable(answer, listing.columns, now_ms);
}

size_t NameColumnsOf(const Listing& listing) {
  switch (listing.kind) {
    case Listing::Kind::kQueues: return 2;  // and its kind
    case Listing::Kind::kNodes: return 1;
    case Listing::Kind::kGangs: break;
  }
  return listing.columns.namespaces ? 3 : 2;  // and its kind
}

}  // namespace tutti::app

// SPDX-License-Identifier: Apache-2.0
// sim/api/representation.h - in which form a client wants objects: whole, their metadata
// only, or as the Table that `kubectl get` prints. Always JSON: a client that prefers
// protobuf also accepts this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/api/http_types.h"
#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

enum class Form { kPlain, kPartialMetadata, kTable };
enum class TableObjects { kNone, kMetadata, kObject };

class Representation {
 public:
  // 406 when the client accepts nothing that is served.
  static ApiResult<Representation> Negotiate(const HttpRequest& request, const ApiResource& resource,
                                             std::string_view version);

  Form form() const { return form_; }

  // One object, as an answer or in a watch; with_columns: a Table's header as well.
  Json Render(const Object& object, base::Millis now_ms, bool with_columns = true) const;
  // Tells whether Render gives the stored object as it is, so that its text can be shared.
  bool IsAsStored() const { return form_ == Form::kPlain && as_stored_; }
  // What Render gives, printed.
  std::string Print(const Object& object, base::Millis now_ms, bool with_columns = true) const;
  // A whole list answer, printed. `list_meta` is its metadata.
  std::string RenderList(const std::vector<Object>& objects, const Json& list_meta, base::Millis now_ms) const;
  // What a bookmark carries.
  Json RenderBookmark(int64_t resource_version, bool ends_initial_events) const;

 private:
  Json Row(const Json& stored, base::Millis now_ms) const;

  ApiResource resource_;  // a copy: a watch may outlive the definition
  std::string version_;
  Form form_ = Form::kPlain;
  TableObjects table_objects_ = TableObjects::kMetadata;
  bool as_stored_ = true;
};

// 406 when the client accepts nothing that is served: to be asked before anything is written.
ApiResult<void> CheckAccept(const HttpRequest& request);

// JSON, or YAML or Kubernetes' protobuf where the content type says so. 400, 415.
ApiResult<Json> ParseBody(const HttpRequest& request);

}  // namespace tutti::sim

// SPDX-License-Identifier: Apache-2.0
// Discovery: which kinds the API server has, in which versions. The loop's thread only.
//
// Asked every 10 s with If-None-Match, which costs the server next to nothing, and at once when told that a
// CustomResourceDefinition changed. Servers without aggregated discovery are asked group by group, for the groups that
// somebody wants.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/json_fwd.h"
#include "kube/loop.h"
#include "kube/retry.h"
#include "kube/transport.h"
#include "model/object.h"

namespace tutti::kube {

struct ServedResource {
  std::string kind = {};
  bool namespaced = true;
  bool has_status = false;  // a status subresource
  size_t rank = 0;          // of its version among the group's, as the server prefers them; 0 is first

  friend bool operator==(const ServedResource&, const ServedResource&) = default;
};

class Discovery {
 public:
  Discovery(Loop& loop, Transport& transport, base::Random& random);
  ~Discovery();

  // `changed` runs after the first complete answer, and after each that differs from the one before.
  void Start(const std::vector<model::ObjectKind>& wanted, std::function<void()> changed);
  // Kinds that are wanted besides; `changed` runs after the next complete answer, even if it is the same. After Start.
  void Want(const std::vector<model::ObjectKind>& kinds);
  // Asks again at once, and twice more within seconds: a new CRD takes a moment to be served.
  void AskSoon();

  // An answer has been had.
  bool known() const { return known_; }
  // The first of `kind.versions` that is served; nothing if none is.
  std::optional<std::string> BestVersion(const model::ObjectKind& kind) const;
  // Under which resource `kind` of `group` is served, and in which versions, the server's favourite first; nothing when
  // it is not. A server without aggregated discovery is known by its wanted groups alone: see Want.
  std::optional<model::ObjectKind> ResourceOf(const std::string& group, const std::string& kind) const;
  // nullptr when not served (or not in a wanted group).
  const ServedResource* Find(const std::string& group, const std::string& version, const std::string& resource) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // group, version, resource
  using Table = std::map<Key, ServedResource>;

  void Ask();
  void AskCore();
  void Get(Request request, std::function<void(const Response&)> read);
  void OnGroups(const Response& response);
  void ReadAggregated(const base::Json& list);
  void AskEachGroup(const base::Json& groups);
  bool ReadGroupVersion(const std::string& group, const std::string& version, size_t rank, const Response& response,
                        Table* into);
  void Finish();
  void Schedule(base::Millis delay_ms);
  void Complain(const std::string& what);

  Loop& loop_;
  Transport& transport_;
  Backoff backoff_;
  std::set<std::string> wanted_groups_;
  std::function<void()> changed_;
  Table core_, table_, next_;
  bool known_ = false, core_known_ = false;
  bool next_is_whole_ = true;
  size_t open_requests_ = 0;
  std::set<RequestId> requests_;
  std::string etag_, next_etag_;
  TimerId timer_ = 0;
  bool ask_again_ = false;  // somebody asked while a round was under way
  bool tell_ = false;       // after the next round, even if nothing changed
  bool told_for_ = false;   // the same, after the round under way
  int quick_rounds_ = 0;    // left after AskSoon
  std::string last_complaint_;
};

}  // namespace tutti::kube

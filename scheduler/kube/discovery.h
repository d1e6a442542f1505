// SPDX-License-Identifier: Apache-2.0
// Discovery: knows which kinds the API server serves, and in which versions. The loop's thread only.
//
// It asks every 10 s with If-None-Match, which costs the server almost nothing, and at once after a
// CustomResourceDefinition changed. It asks servers without aggregated discovery group by group, and only for wanted
// groups.
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
  size_t rank = 0;          // of its version in the server's order of preference; 0 is first

  friend bool operator==(const ServedResource&, const ServedResource&) = default;
};

class Discovery {
 public:
  Discovery(Loop& loop, Transport& transport, base::Random& random);
  ~Discovery();

  // Starts asking. `changed` runs after the first complete answer, and after each one that differs from the one before.
  void Start(const std::vector<model::ObjectKind>& wanted, std::function<void()> changed);
  // Adds wanted kinds. `changed` runs after the next complete answer, even if it is the same. REQUIRES: Start() was
  // called.
  void Want(const std::vector<model::ObjectKind>& kinds);
  // Asks again at once, and twice more within seconds: a new CRD takes a moment to be served.
  void AskSoon();

  // Tells whether there was a complete answer.
  bool known() const { return known_; }
  // Returns the first of `kind.versions` that is served; nullopt if none is.
  std::optional<std::string> BestVersion(const model::ObjectKind& kind) const;
  // Returns the resource under which `kind` of `group` is served, and its versions, the server's favourite first;
  // nullopt when it is not served. On a server without aggregated discovery only wanted groups are known: see Want.
  std::optional<model::ObjectKind> ResourceOf(const std::string& group, const std::string& kind) const;
  // Returns nullptr when it is not served (or not in a wanted group).
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
  bool ask_again_ = false;  // a new round was asked for during a round
  bool tell_ = false;       // run `changed_` after the next round, even if nothing changed
  bool told_for_ = false;   // the same, after the round under way
  int quick_rounds_ = 0;    // left after AskSoon
  std::string last_complaint_;
};

}  // namespace tutti::kube

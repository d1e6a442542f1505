// SPDX-License-Identifier: Apache-2.0
// ExtenderDesk: asks kube-scheduler's extenders about members before they are placed.
//
// An extender knows nothing of gangs. So each member is asked about on its own, with the nodes that pass our filters;
// the gang is placed when all answers are there, and each member only on a node that all extenders took. An answer
// serves one attempt: an extender's mind may change without any event. After an attempt that failed the members are
// asked about again when something happens, or after a back-off.
//
// A pod for which other pods would go is asked about, too, with the nodes where that would help (preemptVerb).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>

#include "cluster/extenders.h"
#include "cluster/state.h"
#include "core/gangs/agenda.h"
#include "core/gangs/gang.h"
#include "core/options.h"
#include "core/outbox.h"
#include "core/place/lone_preemption.h"
#include "core/place/rankings.h"

namespace tutti::core {

class ExtenderDesk {
 public:
  // All must outlive it. `extenders` may be null: then none is asked.
  ExtenderDesk(const Options& options, cluster::ClusterState& state, GangBook& book, Agenda& agenda, Rankings& rankings,
               Outbox& outbox, cluster::Extenders* extenders)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        rankings_(rankings),
        outbox_(outbox),
        extenders_(extenders) {}

  // Tells whether there is an extender to be asked.
  bool AsksAny() const { return extenders_ != nullptr && !options_.extenders.empty(); }
  // Sends the questions that are open about these members. kAnswered: all are answered, or none had to be asked.
  enum class Stand { kAnswered, kWaiting };
  Stand Ask(const Members& members);
  // Returns what an extender that failed says of the first such member, if there is one. REQUIRES: kAnswered.
  std::optional<std::string> Failure(const Members& members) const;
  // Tells whether some extender is asked which pods go for a pod of this spec.
  bool IsAskedAboutVictims(const model::PodSpec& spec) const;
  // Asks which of the candidates will do for the member. REQUIRES: some extender is asked that about it, no such
  // question about it is open, and there is a candidate.
  void AskAboutVictims(Member& member, const std::vector<PreemptionCandidate>& candidates);
  // Tells whether such a question about one of these members is open.
  static bool AwaitsVictims(const Members& members);
  // Returns the candidates that all extenders take, as far as their nodes and pods are still there. REQUIRES: there is
  // an answer about victims.
  std::vector<PreemptionCandidate> CandidatesOf(const cluster::ExtenderReply& reply) const;
  // Uses up the answers about these members, which were placed or could not be. Returns for how long they are not to be
  // asked about again unless something happens; 0: no extender was asked.
  base::Millis Finish(const Members& members, bool placed);

  // Stores the reply. No effect if its question is not open any more.
  void OnReply(const cluster::ExtenderReply& reply);

  // Returns the index of the extender that binds this pod; nullopt: the API server does.
  std::optional<size_t> BinderOf(const model::PodSpec& spec) const;
  cluster::Extenders* extenders() const { return extenders_; }

 private:
  bool IsAskedAbout(const model::PodSpec& spec) const;
  void AskAbout(Member& member);

  const Options& options_;
  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Rankings& rankings_;
  Outbox& outbox_;
  cluster::Extenders* const extenders_;
  absl::flat_hash_map<cluster::CommandId, model::PodId> open_;  // by question
};

}  // namespace tutti::core

// SPDX-License-Identifier: Apache-2.0
// ViewSource: a scheduler as the doors read it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/question_reader.h"
#include "app/views.h"
#include "doors/source.h"

namespace tutti::app {

class ViewSource final : public doors::Source {
 public:
  // `views`, `history` and `reader` outlive this. `not_leading`: see doors::Source; called on any thread.
  ViewSource(Views& views, const observe::History& history, QuestionReader& reader, doors::About about,
             std::function<std::string()> not_leading)
      : views_(views),
        history_(history),
        reader_(reader),
        about_(std::move(about)),
        not_leading_(std::move(not_leading)) {}

  const doors::About& about() const override { return about_; }
  std::string NotLeading() const override { return not_leading_(); }
  uint64_t sequence() const override { return views_.sequence(); }
  std::optional<observe::DecisionChanges> Decisions() override { return views_.Decisions(); }
  std::optional<observe::DecisionChanges> DecisionsAfter(uint64_t sequence) override {
    return views_.DecisionsAfter(sequence);
  }
  std::shared_ptr<const doors::Nodes> ListNodes() override { return views_.Nodes(); }
  std::shared_ptr<const doors::QueueViews> ListQueues() override { return views_.Queues(); }
  observe::History::Found HistoryOf(const std::string& ns, const std::string& name,
                                    const std::string& dialect) override {
    return history_.Of(ns, name, dialect);
  }
  doors::DoorResult<observe::Outlook> Ask(const doors::Question& question) override;

 private:
  Views& views_;
  const observe::History& history_;
  QuestionReader& reader_;
  const doors::About about_;
  const std::function<std::string()> not_leading_;
};

}  // namespace tutti::app

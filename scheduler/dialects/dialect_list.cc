// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper.h"
#include "dialects/dialect.h"
#include "dialects/kuberay.h"
#include "dialects/kueue/kueue.h"
#include "dialects/plain.h"
#include "dialects/quota_subtrees.h"
#include "dialects/scheduler_plugins.h"
#include "dialects/upstream.h"
#include "dialects/volcano.h"
#include "dialects/yunikorn.h"

namespace tutti::dialects {

DialectList MakeDialects(const DialectSettings& settings) {
  DialectList dialects;
  // First, as what it started has its labels beside those of the others.
  auto queues = std::make_unique<kueue::Kueue>(settings);
  // What it has made says so by its label, whatever else its pods name.
  auto quotas = std::make_unique<QuotaSubtrees>();
  using Group = AppWrappers::Group;
  auto wrappers = std::make_unique<AppWrappers>(Group::kCodeflare, settings, queues.get(), quotas.get());
  auto of_mcad = std::make_unique<AppWrappers>(Group::kMcad, settings, nullptr, quotas.get());
  queues->SetController(wrappers.get());
  dialects.push_back(std::move(queues));
  dialects.push_back(std::move(quotas));
  dialects.push_back(std::move(wrappers));
  dialects.push_back(std::move(of_mcad));
  dialects.push_back(std::make_unique<Volcano>());
  dialects.push_back(std::make_unique<SchedulerPlugins>());
  dialects.push_back(std::make_unique<Upstream>());
  dialects.push_back(std::make_unique<YuniKorn>());
  // After those that KubeRay may have been told to write for: their word is more than the labels it always writes.
  dialects.push_back(std::make_unique<KubeRay>());
  dialects.push_back(std::make_unique<Plain>());
  return dialects;
}

}  // namespace tutti::dialects

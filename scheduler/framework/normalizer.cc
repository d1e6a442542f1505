// SPDX-License-Identifier: Apache-2.0
#include "framework/normalizer.h"

namespace tutti::framework {

void Normalizer::Count(int64_t raw) {
  if (!Counts(raw)) return;
  if (counted_++ == 0) {
    now_ = {raw, raw};
    at_max_ = at_min_ = 1;
    return;
  }
  if (raw > now_.max) {
    now_.max = raw;
    at_max_ = 0;
  }
  if (raw < now_.min) {
    now_.min = raw;
    at_min_ = 0;
  }
  at_max_ += raw == now_.max;
  at_min_ += raw == now_.min;
}

void Normalizer::CountAll(std::span<const RefusedBy> refused_by) {
  counted_ = 0;
  now_ = {};
  for (size_t slot = 0; slot < refused_by.size(); ++slot)
    if (refused_by[slot] == kNobody) Count(raw(slot));
  lost_ = false;
}

void Normalizer::Insert(size_t slot, int64_t raw, size_t slots) {
  if (flat()) {
    if (raw == 0) return;
    lost_ = true;  // no node has a score yet
  }
  raw_.Put(slot, raw, slots);
  Count(raw);
}

void Normalizer::Erase(size_t slot) {
  const int64_t value = raw(slot);
  if (flat() || !Counts(value)) return;
  --counted_;
  if (value == now_.max) lost_ = --at_max_ == 0 || lost_;
  if (value == now_.min) lost_ = --at_min_ == 0 || lost_;
}

void Normalizer::Assign(std::span<const RefusedBy> refused_by, std::span<const int64_t> raw) {
  raw_.Clear();
  bool any = false;
  for (size_t slot = 0; slot < refused_by.size() && !any; ++slot) any = refused_by[slot] == kNobody && raw[slot] != 0;
  counted_ = 0;
  now_ = {};
  lost_ = false;
  if (!any) return;
  for (size_t slot = 0; slot < raw.size(); ++slot)
    if (refused_by[slot] == kNobody) raw_.Put(slot, raw[slot], raw.size());
  CountAll(refused_by);
}

bool Normalizer::UpdateExtremes(std::span<const RefusedBy> refused_by) {
  if (lost_) CountAll(refused_by);
  before_ = settled_;
  settled_ = now_;
  const bool by_max_only = kind_ == Normalize::kMax || kind_ == Normalize::kMaxReversed;
  return settled_.max != before_.max || (!by_max_only && settled_.min != before_.min);
}

int64_t Normalizer::ShareOf(Normalize kind, int64_t raw, const Extremes& e) {
  switch (kind) {
    case Normalize::kNone: return raw;
    case Normalize::kMax: return e.max <= 0 ? 0 : kMaxNodeScore * raw / e.max;
    case Normalize::kMaxReversed: return e.max <= 0 ? kMaxNodeScore : kMaxNodeScore - kMaxNodeScore * raw / e.max;
    case Normalize::kMinMax:
      // In double and cut, as in kube-scheduler: 100·(1/3) is not always the integer quotient.
      return e.max == e.min
                 ? 0
                 : static_cast<int64_t>(double(kMaxNodeScore) * (double(raw - e.min) / double(e.max - e.min)));
    case Normalize::kSpread:
      if (raw == kNoScore) return 0;
      return e.max == 0 ? kMaxNodeScore : kMaxNodeScore * (e.max + e.min - raw) / e.max;
  }
  return 0;
}

}  // namespace tutti::framework

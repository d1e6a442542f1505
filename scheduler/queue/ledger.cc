// SPDX-License-Identifier: Apache-2.0
#include "queue/ledger.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tutti::queue {

Ledger::~Ledger() {
  for (const ChargeRecord& charge : charges_)
    if (charge.queue.valid()) tree_.Release(charge.queue);
  for (const Change& change : changes_)
    if (change.released.queue.valid()) tree_.Release(change.released.queue);
}

int64_t Ledger::Seen(Wide amount) {
  constexpr Wide kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(amount, kLeast, kMost));
}

const Ledger::Entry* Ledger::Find(QueueId queue, CellId cell) const {
  Refresh();
  if (queue.index() >= rows_.size() || cell.index() >= rows_[queue.index()].size()) return nullptr;
  return &rows_[queue.index()][cell.index()];
}

Ledger::Entry& Ledger::At(std::vector<Row>* rows, QueueId queue, CellId cell) {
  if (queue.index() >= rows->size()) rows->resize(queue.index() + 1);
  Row& row = (*rows)[queue.index()];
  if (cell.index() >= row.size()) row.resize(cell.index() + 1);
  return row[cell.index()];
}

void Ledger::Add(const ChargeRecord& charge, int sign, std::vector<Row>* rows) const {
  for (const auto& [cell, amount] : charge.amounts) {
    Wide change = sign > 0 ? Wide{amount} : -Wide{amount};
    for (QueueId queue = charge.queue; queue.valid() && change != 0; queue = tree_.parent(queue)) {
      Entry& entry = At(rows, queue, cell);
      const Wide before = entry.passed_up();
      entry.used += change;
      TUTTI_CHECK(entry.used >= 0, "what is taken from a queue was charged to it: " + tree_.spec(queue).name);
      change = entry.passed_up() - before;
    }
  }
  // A cell with a high id may be an invented name; shorten the row when it is gone.
  for (QueueId queue = charge.queue; queue.valid(); queue = tree_.parent(queue)) {
    if (queue.index() >= rows->size()) continue;
    Row& row = (*rows)[queue.index()];
    while (!row.empty() && row.back().empty()) row.pop_back();
  }
}

void Ledger::Refresh() const {
  if (links_version_ == tree_.links_version()) return;
  for (Row& row : rows_)
    for (Entry& entry : row) entry.used = 0;
  rows_.resize(std::max(rows_.size(), tree_.end()));
  for (const ChargeRecord& charge : charges_)
    if (charge.queue.valid()) Add(charge, +1, &rows_);
  links_version_ = tree_.links_version();
}

ChargeId Ledger::Charge(QueueId queue, Ask amounts) {
  TUTTI_CHECK(tree_.in_use(queue), "a charge is made to a queue that has an id");
  tree_.Hold(queue);
  Refresh();
  ChargeId id(static_cast<uint32_t>(charges_.size()));
  if (free_.empty()) {
    charges_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  charges_[id.index()] = {queue, std::move(amounts)};
  rows_.resize(std::max(rows_.size(), tree_.end()));
  Add(charges_[id.index()], +1, &rows_);
  if (!marks_.empty()) changes_.push_back({id, {}});
  return id;
}

void Ledger::Release(ChargeId id) {
  TUTTI_CHECK(id.index() < charges_.size() && charges_[id.index()].queue.valid(), "a charge is released once");
  Refresh();
  Add(charges_[id.index()], -1, &rows_);
  ChargeRecord released = std::exchange(charges_[id.index()], {});
  free_.push_back(id);
  // A charge that a speculation released keeps holding its queue and cells, because Rewind may need them.
  if (marks_.empty())
    tree_.Release(released.queue);
  else
    changes_.push_back({id, std::move(released)});
}

int64_t Ledger::Used(QueueId queue, CellId cell) const {
  const Entry* entry = Find(queue, cell);
  return entry ? Seen(entry->used) : 0;
}

void Ledger::SetLimit(QueueId queue, CellId cell, int64_t limit) {
  Refresh();
  if (limit != kNoLimit || Find(queue, cell)) At(&rows_, queue, cell).limit = limit;
}

void Ledger::ClearLimits() {
  Refresh();
  for (Row& row : rows_)
    for (Entry& entry : row) entry.limit = kNoLimit;
}

int64_t Ledger::Limit(QueueId queue, CellId cell) const {
  const Entry* entry = Find(queue, cell);
  return entry ? entry->limit : kNoLimit;
}

std::vector<CellId> Ledger::Limited(QueueId queue) const {
  Refresh();
  std::vector<CellId> cells;
  for (QueueId at = queue; at.valid() && at.index() < rows_.size(); at = tree_.parent(at))
    for (uint32_t cell = 0; cell < rows_[at.index()].size(); ++cell)
      if (rows_[at.index()][cell].limit != kNoLimit) cells.emplace_back(cell);
  std::ranges::sort(cells);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

void Ledger::SetKept(QueueId queue, CellId cell, int64_t amount) {
  if (Kept(queue, cell) == amount) return;
  At(&rows_, queue, cell).kept = amount;
  links_version_ = 0;  // what those above have is summed up again
}

int64_t Ledger::Kept(QueueId queue, CellId cell) const {
  if (queue.index() >= rows_.size() || cell.index() >= rows_[queue.index()].size()) return 0;
  return rows_[queue.index()][cell.index()].kept;
}

int64_t Ledger::Headroom(QueueId queue, CellId cell) const {
  const Entry* entry = Find(queue, cell);
  if (!entry || entry->limit == kNoLimit) return kNoLimit;
  return Seen(Wide{entry->limit} - entry->used);
}

int64_t Ledger::Available(QueueId queue, CellId cell) const {
  int64_t least = kNoLimit;
  for (QueueId at = queue; at.valid(); at = tree_.parent(at)) least = std::min(least, Headroom(at, cell));
  return least;
}

Ledger::Mark Ledger::Here() {
  marks_.push_back(changes_.size());
  return Mark(marks_.size());
}

void Ledger::End(Mark mark) {
  TUTTI_CHECK(static_cast<size_t>(mark) == marks_.size() && !marks_.empty(), "the innermost speculation ends first");
  marks_.pop_back();
}

void Ledger::Rewind(Mark mark) {
  TUTTI_CHECK(!marks_.empty(), "there is a speculation to undo");
  const size_t to = marks_.back();
  End(mark);
  Refresh();
  for (; changes_.size() > to; changes_.pop_back()) {
    auto& [id, released] = changes_.back();
    if (released.queue.valid()) {
      TUTTI_CHECK(free_.back() == id, "ids come back in reverse");
      free_.pop_back();
      charges_[id.index()] = std::move(released);
      Add(charges_[id.index()], +1, &rows_);
    } else {
      Add(charges_[id.index()], -1, &rows_);
      tree_.Release(std::exchange(charges_[id.index()], {}).queue);
      free_.push_back(id);
    }
  }
}

void Ledger::Keep(Mark mark) {
  End(mark);
  if (!marks_.empty()) return;
  for (const Change& change : changes_)
    if (change.released.queue.valid()) tree_.Release(change.released.queue);
  changes_.clear();
}

void Ledger::Audit() const {
  TUTTI_CHECK(marks_.empty() && changes_.empty(), "at rest nothing is speculated");
  Refresh();
  std::vector<Row> counted = rows_;
  for (Row& row : counted)
    for (Entry& entry : row) entry.used = 0;
  for (const ChargeRecord& charge : charges_)
    if (charge.queue.valid()) Add(charge, +1, &counted);
  for (size_t queue = 0; queue < rows_.size(); ++queue)
    for (size_t cell = 0; cell < std::max(rows_[queue].size(), counted[queue].size()); ++cell) {
      const Wide kept = cell < rows_[queue].size() ? rows_[queue][cell].used : Wide{0};
      const Wide count = cell < counted[queue].size() ? counted[queue][cell].used : Wide{0};
      TUTTI_CHECK(kept == count, "a queue's sum is that of its charges");
    }
}

}  // namespace tutti::queue

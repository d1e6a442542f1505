// SPDX-License-Identifier: Apache-2.0
// Dense ids. A name is interned once, where it enters; planning compares numbers.
#pragma once

#include "base/strong_id.h"

namespace tutti::model {

using Symbol = base::StrongId<struct SymbolTag>;        // an interned string (label key, label value, ...)
using ResourceId = base::StrongId<struct ResourceTag>;  // a column of the node inventory
using NodeId = base::StrongId<struct NodeTag>;          // a slot; reused after the node is gone
using PodId = base::StrongId<struct PodTag>;            // a slot; reused after the pod is gone
using ClassId = base::StrongId<struct ClassTag>;        // a PodClass
using GangId = base::StrongId<struct GangTag>;          // a slot; reused after the gang is gone
using MemberId = base::StrongId<struct MemberTag>;      // a slot; reused after the member has left its gang

}  // namespace tutti::model

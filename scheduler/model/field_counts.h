// SPDX-License-Identifier: Apache-2.0
// The values that are looked at member by member: see model/fields.h.
#pragma once

#include "model/fields.h"
#include "model/node.h"
#include "model/pod.h"

namespace tutti::model {

template <>
inline constexpr size_t kFieldCount<Requirement> = 3;
template <>
inline constexpr size_t kFieldCount<LabelSelector> = 2;
template <>
inline constexpr size_t kFieldCount<NodeSelectorTerm> = 2;
template <>
inline constexpr size_t kFieldCount<NodeSelector> = 1;

template <>
inline constexpr size_t kFieldCount<Toleration> = 4;
template <>
inline constexpr size_t kFieldCount<HostPort> = 3;
template <>
inline constexpr size_t kFieldCount<PreferredNodeTerm> = 2;
template <>
inline constexpr size_t kFieldCount<PodAffinityTerm> = 6;
template <>
inline constexpr size_t kFieldCount<WeightedPodAffinityTerm> = 2;
template <>
inline constexpr size_t kFieldCount<PodAffinity> = 2;
template <>
inline constexpr size_t kFieldCount<TopologySpread> = 8;
template <>
inline constexpr size_t kFieldCount<CsiDisk> = 2;
template <>
inline constexpr size_t kFieldCount<PodVolume> = 5;
template <>
inline constexpr size_t kFieldCount<PodSpec> = 20;

template <>
inline constexpr size_t kFieldCount<ObjectMeta> = 10;
template <>
inline constexpr size_t kFieldCount<Pod> = 15;
template <>
inline constexpr size_t kFieldCount<Node> = 6;

}  // namespace tutti::model

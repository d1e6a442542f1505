// SPDX-License-Identifier: Apache-2.0

package main

import "encoding/json"

// configuration makes a KubeSchedulerConfiguration of one profile: mostly the default, sometimes with arguments, weights or plugins changed.
func (g *Generator) configuration() json.RawMessage {
	profile := map[string]any{"schedulerName": "default-scheduler"}
	args := []any{}
	if g.oneIn(2) {
		args = append(args, map[string]any{"name": "NodeResourcesFit", "args": g.fitArgs()})
	}
	if g.oneIn(6) {
		args = append(args, map[string]any{"name": "NodeResourcesBalancedAllocation", "args": map[string]any{
			"resources": []any{map[string]any{"name": "cpu"}, map[string]any{"name": "memory"}, map[string]any{"name": pick(g, "nvidia.com/gpu", "ephemeral-storage")}}}})
	}
	if g.oneIn(6) {
		args = append(args, map[string]any{"name": "InterPodAffinity", "args": map[string]any{
			"hardPodAffinityWeight": g.below(101), "ignorePreferredTermsOfExistingPods": g.oneIn(2)}})
	}
	if g.oneIn(8) {
		added := map[string]any{"preferredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{"weight": 7,
			"preference": map[string]any{"matchExpressions": []any{map[string]any{"key": "disk", "operator": "Exists"}}}}}}
		if g.oneIn(2) {
			added["requiredDuringSchedulingIgnoredDuringExecution"] = map[string]any{"nodeSelectorTerms": []any{
				map[string]any{"matchExpressions": []any{map[string]any{"key": "gen", "operator": "Exists"}}}}}
		}
		args = append(args, map[string]any{"name": "NodeAffinity", "args": map[string]any{"addedAffinity": added}})
	}
	if g.oneIn(5) {
		args = append(args, map[string]any{"name": "PodTopologySpread", "args": g.defaultSpread()})
	}
	if len(args) > 0 {
		profile["pluginConfig"] = args
	}
	if g.oneIn(5) {
		plugins := map[string]any{"score": map[string]any{"enabled": []any{
			map[string]any{"name": pick(g, "ImageLocality", "InterPodAffinity", "TaintToleration"), "weight": 1 + g.below(50)}}}}
		if g.oneIn(2) {
			plugins["score"].(map[string]any)["disabled"] = []any{map[string]any{"name": "NodeAffinity"}}
		}
		if g.oneIn(2) {
			plugins["filter"] = map[string]any{"disabled": []any{map[string]any{"name": pick(g, "TaintToleration", "NodePorts", "NodeUnschedulable")}}}
		}
		profile["plugins"] = plugins
	}
	if g.oneIn(12) {
		plugins, _ := profile["plugins"].(map[string]any)
		if plugins == nil {
			plugins = map[string]any{}
		}
		plugins["multiPoint"] = map[string]any{"disabled": []any{map[string]any{"name": pick(g, "VolumeRestrictions", "NodeVolumeLimits", "VolumeZone", "VolumeBinding")}}}
		profile["plugins"] = plugins
	}
	text, _ := json.Marshal(map[string]any{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []any{profile}})
	return text
}

func (g *Generator) defaultSpread() map[string]any {
	list := []any{}
	for _, key := range []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone", "disk"} {
		for _, when := range []string{"DoNotSchedule", "ScheduleAnyway"} {
			if !g.oneIn(3) {
				continue
			}
			constraint := map[string]any{"topologyKey": key, "whenUnsatisfiable": when, "maxSkew": 1 + g.below(3)}
			if when == "DoNotSchedule" && g.oneIn(3) {
				constraint["minDomains"] = 1 + g.below(3)
			}
			if g.oneIn(3) {
				constraint["nodeTaintsPolicy"] = pick(g, "Honor", "Ignore")
			}
			if g.oneIn(3) {
				constraint["nodeAffinityPolicy"] = pick(g, "Honor", "Ignore")
			}
			list = append(list, constraint)
		}
	}
	return map[string]any{"defaultingType": "List", "defaultConstraints": list}
}

func (g *Generator) fitArgs() map[string]any {
	resources := []any{map[string]any{"name": "cpu", "weight": 1 + g.below(5)}, map[string]any{"name": "memory", "weight": 1 + g.below(5)}}
	if g.oneIn(2) {
		resources = append(resources, map[string]any{"name": pick(g, "nvidia.com/gpu", "ephemeral-storage", "hugepages-2Mi"), "weight": 1 + g.below(9)})
	}
	strategy := map[string]any{"type": pick(g, "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"), "resources": resources}
	if strategy["type"] == "RequestedToCapacityRatio" {
		strategy["requestedToCapacityRatio"] = map[string]any{"shape": []any{map[string]any{"utilization": 0, "score": g.below(11)},
			map[string]any{"utilization": 30 + g.below(30), "score": g.below(11)}, map[string]any{"utilization": 100, "score": g.below(11)}}}
	}
	args := map[string]any{"scoringStrategy": strategy}
	if g.oneIn(4) {
		args["ignoredResources"] = []any{"example.com/foo"}
	}
	if g.oneIn(4) {
		args["ignoredResourceGroups"] = []any{"example.com"}
	}
	return args
}

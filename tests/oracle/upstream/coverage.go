// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sort"
	"strings"
)

// Coverage counts what the questions reached: nodes each plugin refused, by reason, and distinct raw scores.
type Coverage struct {
	nodes, feasible int
	refused         map[string]map[string]int
	scores          map[string]map[int64]bool
	// Nodes that take a pod, by what its volumes are.
	taken map[string]int
	// Nodes that default constraints refused, or scored.
	byDefault map[string]int
	// What came of preemption.
	preempted map[string]int
}

func NewCoverage() *Coverage {
	return &Coverage{refused: map[string]map[string]int{}, scores: map[string]map[int64]bool{}, taken: map[string]int{}, byDefault: map[string]int{}, preempted: map[string]int{}}
}

func (c *Coverage) addPreemption(p *Preemption) {
	if p == nil {
		return
	}
	switch {
	case strings.Contains(p.Message, "preemptionPolicy=Never"):
		c.preempted["by policy, no pod"]++
	case strings.Contains(p.Message, "terminating pod on the nominated node"):
		c.preempted["no more pods, while victims leave"]++
	case len(p.Candidates) == 0:
		c.preempted["no pod, for no node would do"]++
	case len(p.Candidates) == 1:
		c.preempted["on the one candidate"]++
	default:
		c.preempted["on the best of several candidates"]++
	}
	for _, candidate := range p.Candidates {
		if candidate.PdbViolations > 0 {
			c.preempted["candidates that violate budgets"]++
		}
		if len(candidate.Victims) > 1 {
			c.preempted["candidates with several victims"]++
		}
	}
}

func (c *Coverage) Add(q *Question, answer *Answer) {
	c.addPreemption(answer.Preemption)
	kinds := q.volumeKinds()
	const spread = "PodTopologySpread"
	byDefault := len(q.pod.Spec.TopologySpreadConstraints) == 0
	for _, node := range answer.Nodes {
		c.nodes++
		if node.Feasible {
			c.feasible++
			for _, kind := range kinds {
				c.taken[kind]++
			}
		}
		if _, scored := node.Scores[spread]; byDefault && scored {
			c.byDefault["scored"]++
		}
		for _, rejection := range node.RejectedBy {
			if byDefault && rejection.Plugin == spread {
				c.byDefault["refused"]++
			}
			if c.refused[rejection.Plugin] == nil {
				c.refused[rejection.Plugin] = map[string]int{}
			}
			for _, reason := range rejection.Reasons {
				c.refused[rejection.Plugin][reason]++
			}
		}
		for plugin, score := range node.Scores {
			if c.scores[plugin] == nil {
				c.scores[plugin] = map[int64]bool{}
			}
			c.scores[plugin][score.Raw] = true
		}
	}
}

// What 3,000 questions must reach.
var mustRefuse = []string{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}
var mustTake = []string{"a disk", "a claim that is bound", "a claim that gets a volume", "a claim that gets a new volume"}
var mustPreempt = []string{"by policy, no pod", "no more pods, while victims leave", "no pod, for no node would do", "on the one candidate",
	"on the best of several candidates", "candidates that violate budgets", "candidates with several victims"}
var mustSay = map[string][]string{"VolumeBinding": {"node(s) didn't find available persistent volumes to bind", "node(s) didn't match PersistentVolume's node affinity",
	"node(s) did not have enough free storage", "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"}}
var mustScore = map[string]int{"TaintToleration": 20, "NodeAffinity": 20, "NodeResourcesFit": 20, "PodTopologySpread": 20, "InterPodAffinity": 20,
	"NodeResourcesBalancedAllocation": 20, "ImageLocality": 20}

func (c *Coverage) Missing() (missing []string) {
	for _, plugin := range mustRefuse {
		if len(c.refused[plugin]) == 0 {
			missing = append(missing, plugin+" refusing a node")
		}
	}
	for _, kind := range mustTake {
		if c.taken[kind] == 0 {
			missing = append(missing, "a node that takes "+kind)
		}
	}
	for _, what := range []string{"refused", "scored"} {
		if c.byDefault[what] == 0 {
			missing = append(missing, "a node "+what+" by default spread constraints")
		}
	}
	for _, what := range mustPreempt {
		if c.preempted[what] == 0 {
			missing = append(missing, "preemption: "+what)
		}
	}
	for plugin, reasons := range mustSay {
		for _, reason := range reasons {
			if c.refused[plugin][reason] == 0 {
				missing = append(missing, plugin+" saying "+reason)
			}
		}
	}
	for plugin, least := range mustScore {
		if len(c.scores[plugin]) < least {
			missing = append(missing, fmt.Sprintf("%s scoring %d values (%d)", plugin, least, len(c.scores[plugin])))
		}
	}
	sort.Strings(missing)
	return missing
}

func (c *Coverage) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "nodes asked about: %d, feasible: %d\n", c.nodes, c.feasible)
	for _, plugin := range sortedKeys(c.refused) {
		for _, reason := range sortedKeys(c.refused[plugin]) {
			fmt.Fprintf(&out, "  refused %6d  %-20s %s\n", c.refused[plugin][reason], plugin, reason)
		}
	}
	for _, kind := range sortedKeys(c.taken) {
		fmt.Fprintf(&out, "  taken   %6d  %s\n", c.taken[kind], kind)
	}
	for _, what := range sortedKeys(c.byDefault) {
		fmt.Fprintf(&out, "  spread  %6d  nodes %s by default constraints\n", c.byDefault[what], what)
	}
	for _, what := range sortedKeys(c.preempted) {
		fmt.Fprintf(&out, "  preempt %6d  %s\n", c.preempted[what], what)
	}
	for _, plugin := range sortedKeys(c.scores) {
		fmt.Fprintf(&out, "  scored  %6d distinct values  %s\n", len(c.scores[plugin]), plugin)
	}
	return out.String()
}

func sortedKeys[V any](of map[string]V) []string {
	keys := []string{}
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

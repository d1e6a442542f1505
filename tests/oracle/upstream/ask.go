// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// What `tutti evaluate -o json` prints; the oracle fills the same.
type Answer struct {
	Error   string       `json:"error,omitempty"`
	Summary string       `json:"summary"`
	Nodes   []NodeAnswer `json:"nodes"`
	// Of a pod that does not fit.
	Preemption *Preemption `json:"preemption,omitempty"`
}

type NodeAnswer struct {
	Name       string           `json:"name"`
	Feasible   bool             `json:"feasible"`
	RejectedBy []Rejection      `json:"rejectedBy"`
	Scores     map[string]Score `json:"scores"`
	Total      int64            `json:"total"`
}

type Rejection struct {
	Plugin     string   `json:"plugin"`
	Reasons    []string `json:"reasons"`
	Resolvable bool     `json:"resolvable"`
}

type Score struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"`
	Weighted   int64 `json:"weighted"`
}

// The plugins keep the lister they were made with, so one framework serves many questions through this.
type currentLister struct{ *cache.Snapshot }

// One profile of kube-scheduler, with its plugins at hand.
type Scheduler struct {
	framework framework.Framework
	lister    *currentLister
	informers informers.SharedInformerFactory
	nominated nominated
	made      map[string]fwk.Plugin
	weights   map[string]int64
}

func NewScheduler(ctx context.Context, configuration json.RawMessage) (*Scheduler, error) {
	decoded, err := runtime.Decode(scheme.Codecs.UniversalDecoder(), configuration)
	if err != nil {
		return nil, err
	}
	profile := withoutClaims(decoded.(*config.KubeSchedulerConfiguration).Profiles[0])
	s := &Scheduler{lister: &currentLister{cache.NewEmptySnapshot()}, made: map[string]fwk.Plugin{}, nominated: nominated{}, weights: map[string]int64{}}
	client := clientset.Interface(fake.NewClientset())
	s.informers = informers.NewSharedInformerFactory(client, 0)
	registry := frameworkruntime.Registry{}
	for name, make := range plugins.NewInTreeRegistry() {
		registry[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := make(ctx, args, handle)
			s.made[name] = plugin
			return plugin, err
		}
	}
	s.framework, err = frameworkruntime.NewFramework(ctx, registry, &profile,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(s.informers),
		frameworkruntime.WithSnapshotSharedLister(s.lister),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(s.informers.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodNominator(s.nominated),
		frameworkruntime.WithParallelism(1))
	if err != nil {
		return nil, err
	}
	for _, plugin := range s.framework.ListPlugins().Score.Enabled {
		s.weights[plugin.Name] = int64(plugin.Weight)
	}
	return s, nil
}

func withoutClaims(profile config.KubeSchedulerProfile) config.KubeSchedulerProfile {
	enabled := profile.Plugins.MultiPoint.Enabled
	profile.Plugins.MultiPoint.Enabled = nil
	for _, plugin := range enabled {
		if plugin.Name != "DynamicResources" {
			profile.Plugins.MultiPoint.Enabled = append(profile.Plugins.MultiPoint.Enabled, plugin)
		}
	}
	return profile
}

// Ask follows findNodesThatFitPod and prioritizeNodes of pkg/scheduler/schedule_one.go, but looks at every node.
func (s *Scheduler) Ask(ctx context.Context, q *Question) (*Answer, error) {
	bound := []*v1.Pod{}
	for _, pod := range q.pods {
		if pod.Spec.NodeName != "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed {
			bound = append(bound, pod)
		}
	}
	s.lister.Snapshot = cache.NewSnapshot(bound, q.nodes)
	namespaces := s.informers.Core().V1().Namespaces().Informer().GetIndexer()
	old := namespaces.List()
	for _, ns := range old {
		_ = namespaces.Delete(ns)
	}
	for _, ns := range q.namespaces {
		_ = namespaces.Add(ns)
	}

	fillForPreemption(s.informers, q)
	if err := s.nominate(q); err != nil {
		return nil, err
	}
	q.storage.fill(s.informers)
	q.selections.fill(s.informers)

	state := framework.NewCycleState()
	answer := &Answer{}
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	result, status, plugins := s.framework.RunPreFilterPlugins(ctx, state, q.pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return nil, status.AsError()
		}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
	} else if !result.AllNodes() {
		names := []string{}
		for name := range plugins {
			names = append(names, name)
		}
		sort.Strings(names)
		diagnosis.NodeToStatus.SetAbsentNodesStatus(
			fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", names)).WithPlugin(names[0]))
	}
	feasible := []fwk.NodeInfo{}
	for _, node := range q.nodes {
		info, err := s.lister.Get(node.Name)
		if err != nil {
			return nil, err
		}
		verdict := NodeAnswer{Name: node.Name}
		var refusal *fwk.Status
		if !status.IsSuccess() || (!result.AllNodes() && !result.NodeNames.Has(node.Name)) {
			refusal = diagnosis.NodeToStatus.AbsentNodesStatus()
			if status.IsSuccess() && node.Name == q.pod.Status.NominatedNodeName { // it is looked at first of all
				refusal = s.framework.RunFilterPluginsWithNominatedPods(ctx, state, q.pod, info)
				diagnosis.NodeToStatus.Set(node.Name, refusal)
			}
		} else {
			refusal = s.framework.RunFilterPluginsWithNominatedPods(ctx, state, q.pod, info)
			if !refusal.IsSuccess() && !refusal.IsRejected() {
				return nil, refusal.AsError()
			}
			if !refusal.IsSuccess() {
				diagnosis.NodeToStatus.Set(node.Name, refusal)
			}
		}
		if refusal.IsSuccess() {
			verdict.Feasible = true
			feasible = append(feasible, info)
		} else {
			verdict.RejectedBy = []Rejection{{refusal.Plugin(), refusal.Reasons(), refusal.Code() == fwk.Unschedulable}}
		}
		answer.Nodes = append(answer.Nodes, verdict)
	}
	if len(feasible) == 0 {
		if len(q.nodes) == 0 {
			answer.Summary = "no nodes available to schedule pods"
		} else {
			answer.Summary = (&framework.FitError{Pod: q.pod, NumAllNodes: len(q.nodes), Diagnosis: diagnosis}).Error()
			var err error
			if answer.Preemption, err = s.preempt(ctx, state, q, &diagnosis); err != nil {
				return nil, err
			}
		}
		return answer, nil
	}
	return answer, s.score(ctx, state, q.pod, feasible, answer)
}

func (s *Scheduler) score(ctx context.Context, state *framework.CycleState, pod *v1.Pod, feasible []fwk.NodeInfo, answer *Answer) error {
	if status := s.framework.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	scored, status := s.framework.RunScorePlugins(ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	byName := map[string]fwk.NodePluginScores{}
	for _, scores := range scored {
		byName[scores.Name] = scores
	}
	infos := map[string]fwk.NodeInfo{}
	for _, info := range feasible {
		infos[info.Node().Name] = info
	}
	for i := range answer.Nodes {
		node := &answer.Nodes[i]
		if !node.Feasible {
			continue
		}
		node.Scores = map[string]Score{}
		node.Total = byName[node.Name].TotalScore
		if !s.framework.HasScorePlugins() {
			node.Total = 1
		}
		for _, score := range byName[node.Name].Scores {
			raw, status := s.made[score.Name].(fwk.ScorePlugin).Score(ctx, state, pod, infos[node.Name])
			if !status.IsSuccess() {
				return status.AsError()
			}
			node.Scores[score.Name] = Score{raw, score.Score / s.weights[score.Name], score.Score}
		}
	}
	return nil
}

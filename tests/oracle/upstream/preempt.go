// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sort"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// What `tutti evaluate` says of a pod that does not fit.
type Preemption struct {
	Eligible      bool        `json:"eligible"`
	Message       string      `json:"message"`
	NominatedNode string      `json:"nominatedNode"`
	Victims       []string    `json:"victims"`
	Candidates    []Candidate `json:"candidates"`
}

type Candidate struct {
	Node          string   `json:"node"`
	Victims       []string `json:"victims"`
	PdbViolations int64    `json:"pdbViolations"`

	pods []*v1.Pod
}

// recorder keeps what DefaultPreemption finds on each node, and has it begin with the first.
type recorder struct {
	*defaultpreemption.DefaultPreemption
	eligible   bool
	candidates []Candidate
}

func (r *recorder) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, n := r.DefaultPreemption.GetOffsetAndNumCandidates(nodes)
	return 0, n
}

func (r *recorder) PodEligibleToPreemptOthers(ctx context.Context, pod *v1.Pod, status *fwk.Status) (bool, string) {
	ok, why := r.DefaultPreemption.PodEligibleToPreemptOthers(ctx, pod, status)
	r.eligible = ok
	return ok, why
}

func (r *recorder) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := r.DefaultPreemption.SelectVictimsOnNode(ctx, state, pod, info, pdbs)
	if status.IsSuccess() && len(victims) > 0 {
		r.candidates = append(r.candidates, Candidate{info.Node().Name, namesOf(victims), int64(violations), victims})
	}
	return victims, violations, status
}

func namesOf(pods []*v1.Pod) []string {
	names := []string{}
	for _, pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	return names
}

// preempt runs the PostFilter plugins after the filters found no node. Nothing is evicted.
func (s *Scheduler) preempt(ctx context.Context, state *framework.CycleState, q *Question, diagnosis *framework.Diagnosis) (*Preemption, error) {
	plugin, ok := s.made[defaultpreemption.Name].(*defaultpreemption.DefaultPreemption)
	if !ok {
		return &Preemption{Message: (&framework.FitError{Pod: q.pod, NumAllNodes: len(q.nodes), Diagnosis: *diagnosis}).Error()}, nil
	}
	record := &recorder{DefaultPreemption: plugin}
	plugin.Evaluator.Interface = record
	plugin.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) error {
		return nil
	}
	result, status := s.framework.RunPostFilterPlugins(ctx, state, q.pod, diagnosis.NodeToStatus)
	if status.Code() == fwk.Error {
		return nil, status.AsError()
	}
	diagnosis.PostFilterMsg = status.Message()
	told := &Preemption{Eligible: record.eligible, Candidates: record.candidates,
		Message: (&framework.FitError{Pod: q.pod, NumAllNodes: len(q.nodes), Diagnosis: *diagnosis}).Error()}
	if status.IsSuccess() {
		told.NominatedNode = result.NominatedNodeName
	}
	return told, nil
}

func fillForPreemption(f informers.SharedInformerFactory, q *Question) {
	for _, pod := range q.pods {
		_ = f.Core().V1().Pods().Informer().GetIndexer().Add(pod)
	}
	_ = f.Core().V1().Pods().Informer().GetIndexer().Add(q.pod)
	for _, budget := range q.budgets {
		_ = f.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(budget)
	}
}

// nominated pods by node: those of the question, and no others.
type nominated map[string][]fwk.PodInfo

func (nominated) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (nominated) DeleteNominatedPodIfExists(*v1.Pod)                            {}
func (nominated) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo)          {}
func (n nominated) NominatedPodsForNode(node string) []fwk.PodInfo              { return n[node] }

func (s *Scheduler) nominate(q *Question) error {
	for _, pod := range append([]*v1.Pod{q.pod}, q.pods...) {
		if pod.Spec.NodeName != "" || pod.Status.NominatedNodeName == "" || pod.DeletionTimestamp != nil {
			continue
		}
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			return err
		}
		s.nominated[pod.Status.NominatedNodeName] = append(s.nominated[pod.Status.NominatedNodeName], info)
	}
	return nil
}

// cost is what candidates are compared by, in this order; the least is the best (pickOneNodeForPreemption).
func cost(c Candidate) [5]int64 {
	priority := func(pod *v1.Pod) int64 { return int64(*pod.Spec.Priority) }
	started := func(pod *v1.Pod) int64 {
		if pod.Status.StartTime == nil {
			return math.MaxInt64
		}
		return pod.Status.StartTime.Unix()
	}
	sum, earliest := int64(0), int64(math.MaxInt64)
	for _, pod := range c.pods {
		sum += priority(pod) + math.MaxInt32 + 1
		if priority(pod) == priority(c.pods[0]) {
			earliest = min(earliest, started(pod))
		}
	}
	return [5]int64{c.PdbViolations, priority(c.pods[0]), sum, int64(len(c.pods)), -earliest}
}

func isLess(a, b [5]int64) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func comparePreemption(theirs, ours *Preemption, differ func(string, ...any)) {
	if theirs.Eligible != ours.Eligible {
		differ("preemption: eligible: %v there, %v here", theirs.Eligible, ours.Eligible)
	}
	if theirs.Message != ours.Message {
		differ("preemption: message: %q there, %q here", theirs.Message, ours.Message)
	}
	sort.Slice(theirs.Candidates, func(i, j int) bool { return theirs.Candidates[i].Node < theirs.Candidates[j].Node })
	text := func(candidates []Candidate) (lines []string) {
		for _, c := range candidates {
			lines = append(lines, fmt.Sprintf("%s: %v, %d violations", c.Node, c.Victims, c.PdbViolations))
		}
		return lines
	}
	if there, here := text(theirs.Candidates), text(ours.Candidates); !reflect.DeepEqual(there, here) {
		differ("preemption: candidates: %q there, %q here", there, here)
		return
	}
	if (theirs.NominatedNode == "") != (ours.NominatedNode == "") {
		differ("preemption: node: %q there, %q here", theirs.NominatedNode, ours.NominatedNode)
		return
	}
	var best *[5]int64
	for _, c := range theirs.Candidates {
		if of := cost(c); best == nil || isLess(of, *best) {
			best = &of
		}
	}
	for _, c := range theirs.Candidates {
		if c.Node == theirs.NominatedNode && cost(c) != *best {
			differ("preemption: %s is chosen there, and is not the best", c.Node)
		}
		if c.Node != ours.NominatedNode {
			continue
		}
		if cost(c) != *best {
			differ("preemption: %s is chosen here, and is not as good as %s", c.Node, theirs.NominatedNode)
		}
		if !reflect.DeepEqual(c.Victims, ours.Victims) {
			differ("preemption: victims: %v there, %v here", c.Victims, ours.Victims)
		}
	}
}

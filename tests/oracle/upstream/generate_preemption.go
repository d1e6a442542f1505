// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (g *Generator) priority(pod *v1.Pod, of ...int32) {
	priority := pick(g, of...)
	pod.Spec.Priority = &priority
}

// running says since when the i-th pod has run, how it may have been resized, and why it leaves. No two pods start at
// once: among such, upstream's choice is random.
func (g *Generator) running(pod *v1.Pod, i int) {
	g.priority(pod, -100, -1, 0, 0, 0, 5, 10, 1000)
	started := metav1.NewTime(time.Unix(1_700_000_000+int64(g.below(50))*1_000+int64(i), 0).UTC())
	pod.Status.StartTime = &started
	if pod.DeletionTimestamp != nil && !g.oneIn(3) {
		pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{Type: v1.DisruptionTarget,
			Status: pick(g, v1.ConditionTrue, v1.ConditionTrue, v1.ConditionFalse), Reason: pick(g, v1.PodReasonPreemptionByScheduler, v1.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI")})
	}
	if g.oneIn(12) {
		g.resized(pod)
	}
}

func (g *Generator) resized(pod *v1.Pod) {
	amounts := func() v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(g, "50m", "500m", "2")), v1.ResourceMemory: resource.MustParse(pick(g, "64Mi", "2Gi"))}
	}
	statuses := func(containers []v1.Container) (of []v1.ContainerStatus) {
		for _, c := range containers {
			status := v1.ContainerStatus{Name: c.Name, AllocatedResources: amounts()}
			if g.oneIn(2) {
				status.Resources = &v1.ResourceRequirements{Requests: amounts()}
			}
			of = append(of, status)
		}
		return of
	}
	pod.Status.ContainerStatuses = statuses(pod.Spec.Containers)
	if g.oneIn(2) {
		pod.Status.InitContainerStatuses = statuses(pod.Spec.InitContainers)
	}
	if g.oneIn(4) {
		pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: pick(g, v1.PodReasonInfeasible, v1.PodReasonDeferred)})
	}
}

// nominated makes pods that wait while a node is kept for them.
func (g *Generator) nominated(q *Question, m mood, nodes int) {
	if !g.oneIn(4) {
		return
	}
	for i := range 1 + g.below(2) {
		pod := g.pod(fmt.Sprintf("nominated-%d", i), m)
		g.priority(pod, 0, 5, 10, 10, 50, 1000)
		pod.Status.Phase = v1.PodPending
		pod.Status.NominatedNodeName = fmt.Sprintf("node-%d", g.below(nodes+1))
		q.pods = append(q.pods, created(pod))
		q.add(pod)
	}
}

func (g *Generator) budgets(q *Question) {
	if !g.oneIn(2) {
		return
	}
	for i := range 1 + g.below(3) {
		budget := &policy.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}}
		budget.Name, budget.Namespace = fmt.Sprintf("budget-%d", i), pick(g, "default", "default", "other")
		budget.UID = types.UID("uid-" + budget.Name)
		budget.Spec.Selector = g.selector()
		budget.Status.DisruptionsAllowed = int32(g.below(3))
		for _, pod := range q.pods {
			if pod.DeletionTimestamp != nil && g.oneIn(3) {
				if budget.Status.DisruptedPods == nil {
					budget.Status.DisruptedPods = map[string]metav1.Time{}
				}
				budget.Status.DisruptedPods[pod.Name] = *pod.DeletionTimestamp
			}
		}
		q.budgets = append(q.budgets, budget)
		q.add(budget)
	}
}

// preemptor makes the asked pod one that may evict others.
func (g *Generator) preemptor(q *Question, pod *v1.Pod, nodes int) {
	g.priority(pod, -1, 0, 5, 10, 10, 50, 50)
	if g.oneIn(3) {
		pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(g, "1", "2", "3", "5")), v1.ResourceMemory: resource.MustParse("1Gi")}
	}
	if g.oneIn(20) {
		never := v1.PreemptNever
		pod.Spec.PreemptionPolicy = &never
	}
	if g.oneIn(6) {
		pod.Status.NominatedNodeName = fmt.Sprintf("node-%d", g.below(nodes+1))
	}
	for _, leaving := range q.pods {
		if leaving.DeletionTimestamp != nil && len(leaving.Status.Conditions) > 0 && g.oneIn(4) {
			pod.Status.NominatedNodeName = leaving.Spec.NodeName
		}
	}
	if g.oneIn(12) {
		pod.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(g, "2", "4")), v1.ResourceMemory: resource.MustParse("4Gi")}}
	}
}

// portsInUse: host ports by node. A kubelet starts no two pods with the same one; upstream forgets the second with the
// first.
type portsInUse map[string]bool

func (p portsInUse) dropTaken(pod *v1.Pod) {
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				key := fmt.Sprintf("%s/%s/%d", pod.Spec.NodeName, port.Protocol, port.HostPort)
				if p[key] {
					containers[i].Ports = nil
				}
				p[key] = true
			}
		}
	}
}

// sharesClaimNames: the asked pod has a claim whose name is that of a claim in another namespace, which a pod there uses.
// Upstream takes one for the other when that pod leaves, and would evict it although that does not help.
func sharesClaimNames(q *Question) bool {
	names := func(pod *v1.Pod) map[string]bool {
		of := map[string]bool{}
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim != nil {
				of[volume.PersistentVolumeClaim.ClaimName] = true
			}
		}
		return of
	}
	mine := names(q.pod)
	for _, pod := range q.pods {
		for name := range names(pod) {
			if pod.Namespace != q.pod.Namespace && mine[name] {
				return true
			}
		}
	}
	return false
}

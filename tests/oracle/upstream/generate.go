// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Generator makes questions; the same seed makes the same ones.
type Generator struct{ random *rand.Rand }

func NewGenerator(seed uint64) *Generator { return &Generator{rand.New(rand.NewPCG(seed, seed))} }

func (g *Generator) oneIn(n int) bool { return g.random.IntN(n) == 0 }
func (g *Generator) below(n int) int  { return g.random.IntN(n) }
func pick[T any](g *Generator, of ...T) T {
	return of[g.below(len(of))]
}

// owner: default constraints are about the objects that select a pod.
func (g *Generator) owner(pod *v1.Pod) {
	owner := pick(g, metav1.OwnerReference{APIVersion: "v1", Kind: "ReplicationController"}, metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet"}, metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job"},
		metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "ReplicaSet"})
	owner.Name, owner.UID = pick(g, "set-0", "set-1", "set-2"), "uid-owner"
	controller := !g.oneIn(6)
	owner.Controller = &controller
	pod.OwnerReferences = []metav1.OwnerReference{owner}
}

// selections makes Services and controllers, most of which select pods of the question.
func (g *Generator) selections(q *Question) {
	labels := func() map[string]string {
		switch g.below(8) {
		case 0:
			return nil
		case 1:
			return map[string]string{"app": pick(g, "a", "b"), "tier": pick(g, "a", "b")}
		}
		return map[string]string{pick(g, "app", "tier"): pick(g, "a", "b", "c")}
	}
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: pick(g, "default", "default", "other"), UID: types.UID("uid-" + name)}
	}
	for i := range g.below(4) {
		service := &v1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: meta(fmt.Sprintf("service-%d", i))}
		service.Spec.Selector = labels()
		q.selections.services = append(q.selections.services, service)
		q.add(service)
	}
	for i := range 3 {
		name := fmt.Sprintf("set-%d", i)
		if !g.oneIn(3) {
			rc := &v1.ReplicationController{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ReplicationController"}, ObjectMeta: meta(name)}
			rc.Spec.Selector = labels()
			q.selections.replicationControllers = append(q.selections.replicationControllers, rc)
			q.add(rc)
		}
		if !g.oneIn(3) {
			rs := &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: meta(name)}
			rs.Spec.Selector = g.selector()
			q.selections.replicaSets = append(q.selections.replicaSets, rs)
			q.add(rs)
		}
		if !g.oneIn(3) {
			ss := &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: meta(name)}
			ss.Spec.Selector = g.selector()
			q.selections.statefulSets = append(q.selections.statefulSets, ss)
			q.add(ss)
		}
	}
}

// mood says which features a question has, so that each is met alone and with others.
type mood struct {
	taints, affinity, ports, images, spread, podAffinity, resources, pods, volumes bool
	selections                                                                     bool // Services and controllers
	crowded                                                                        bool // many small pods, roomy nodes
	full                                                                           bool // few pods fit on a node, which are of all priorities
}

func (g *Generator) mood() mood {
	switch g.below(20) {
	case 14, 15, 16:
		return mood{pods: true, full: true, taints: g.oneIn(6)}
	case 17, 18, 19:
		return mood{pods: true, full: true, taints: g.oneIn(8), affinity: g.oneIn(8), ports: g.oneIn(3), spread: g.oneIn(3), podAffinity: g.oneIn(3),
			resources: g.oneIn(4), volumes: g.oneIn(5), selections: g.oneIn(6)}
	case 12, 13:
		return mood{selections: true, spread: g.oneIn(4), taints: g.oneIn(3), affinity: g.oneIn(4), pods: true, crowded: true}
	case 10:
		return mood{volumes: true, images: g.oneIn(4), taints: g.oneIn(6), pods: !g.oneIn(4), crowded: g.oneIn(4)}
	case 0, 1:
		return mood{true, true, true, true, true, true, true, true, g.oneIn(3), g.oneIn(2), false, false}
	case 2, 3, 11:
		return mood{spread: true, taints: g.oneIn(4), pods: true, crowded: true}
	case 4, 5:
		return mood{podAffinity: true, spread: g.oneIn(4), pods: true, crowded: true}
	}
	return mood{g.oneIn(3), g.oneIn(3), g.oneIn(5), g.oneIn(3), g.oneIn(3), g.oneIn(3), g.oneIn(2), !g.oneIn(4), g.oneIn(4), g.oneIn(6), g.oneIn(4), g.oneIn(6)}
}

func (g *Generator) Question(number int) *Question {
	q := &Question{Config: g.configuration()}
	m := g.mood()
	for _, name := range []string{"default", "other"} {
		ns := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": pick(g, "a", "b")}}}
		ns.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
		q.namespaces = append(q.namespaces, ns)
		q.add(ns)
	}
	nodes := 1 + g.below(8)
	if g.oneIn(20) {
		nodes = g.below(60)
	}
	for i := range nodes {
		node := g.node(i, m)
		q.nodes = append(q.nodes, node)
		q.add(node)
	}
	if m.volumes {
		g.storage(q, nodes)
	}
	if m.selections {
		g.selections(q)
	}
	if m.pods && nodes > 0 {
		most := 4 * nodes
		if m.crowded {
			most = 15 * nodes
		}
		ports := portsInUse{}
		for i := range g.below(most) {
			pod := g.pod(fmt.Sprintf("pod-%d", i), m)
			if m.volumes {
				g.podVolumes(q, pod, false, nodes)
			}
			pod.Spec.NodeName = fmt.Sprintf("node-%d", g.below(nodes))
			pod.Status.Phase = pick(g, v1.PodRunning, v1.PodRunning, v1.PodRunning, v1.PodPending, v1.PodSucceeded)
			if g.oneIn(10) {
				deleted := metav1.NewTime(time.Unix(1_700_000_000, 0).UTC())
				pod.DeletionTimestamp = &deleted
			}
			g.running(pod, i)
			ports.dropTaken(pod)
			q.pods = append(q.pods, created(pod))
			q.add(pod)
		}
	}
	if nodes > 0 {
		g.nominated(q, m, nodes)
	}
	g.budgets(q)
	q.pod = g.pod("asked", m)
	g.preemptor(q, q.pod, nodes)
	if m.volumes {
		g.podVolumes(q, q.pod, true, nodes)
		if sharesClaimNames(q) {
			q.pod.Spec.Volumes = nil
		}
	}
	if g.oneIn(25) && nodes > 0 {
		q.pod.Spec.NodeName = fmt.Sprintf("node-%d", g.below(nodes))
	}
	q.add(q.pod)
	q.pod = created(q.pod)
	q.Pod = q.pod.Namespace + "/" + q.pod.Name
	return q
}

func (g *Generator) node(i int, m mood) *v1.Node {
	name := fmt.Sprintf("node-%d", i)
	node := &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	if !g.oneIn(12) {
		node.Labels["kubernetes.io/hostname"] = name
	}
	if !g.oneIn(10) {
		node.Labels["topology.kubernetes.io/zone"] = pick(g, "z1", "z2", "z3")
	}
	if m.volumes && g.oneIn(2) {
		node.Labels[pick(g, "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")] = pick(g, "r1", "r2")
	}
	if g.oneIn(2) {
		node.Labels["disk"] = pick(g, "ssd", "hdd", "")
	}
	if g.oneIn(2) {
		node.Labels["gen"] = pick(g, "1", "5", "10", "-3", "new", "+7", "99999999999999999999")
	}
	allocatable := v1.ResourceList{
		v1.ResourceCPU:    resource.MustParse(pick(g, "2", "4", "7500m", "16", "64")),
		v1.ResourceMemory: resource.MustParse(pick(g, "2Gi", "8Gi", "15500Mi", "64Gi", "1Ti")),
		v1.ResourcePods:   resource.MustParse(pick(g, "110", "110", "3", "1")),
	}
	if m.full {
		allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(g, "2", "4", "6")), v1.ResourceMemory: resource.MustParse(pick(g, "4Gi", "8Gi")),
			v1.ResourcePods: resource.MustParse(pick(g, "110", "110", "5"))}
	} else if m.crowded {
		allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse("64"), v1.ResourceMemory: resource.MustParse("256Gi"),
			v1.ResourcePods: resource.MustParse(pick(g, "110", "110", "12"))}
	}
	if m.resources {
		if g.oneIn(2) {
			allocatable["nvidia.com/gpu"] = resource.MustParse(pick(g, "0", "1", "4", "8"))
		}
		if g.oneIn(3) {
			allocatable[v1.ResourceEphemeralStorage] = resource.MustParse(pick(g, "10Gi", "100Gi"))
		}
		if g.oneIn(4) {
			allocatable["hugepages-2Mi"] = resource.MustParse(pick(g, "0", "64Mi", "1Gi"))
		}
		if g.oneIn(12) {
			allocatable[v1.ResourceCPU] = resource.MustParse("0")
		}
	}
	node.Status.Allocatable = allocatable
	if m.taints {
		for range g.below(3) {
			node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: pick(g, "gpu", "spot", "team"), Value: pick(g, "", "yes", "no"),
				Effect: pick(g, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)})
		}
		if g.oneIn(6) { // one of many nodes that pods would rather avoid, each for other reasons
			for i := range g.below(25) {
				node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: fmt.Sprintf("soft-%d", i), Effect: v1.TaintEffectPreferNoSchedule})
			}
		}
		node.Spec.Unschedulable = g.oneIn(8)
	}
	if m.images {
		for _, image := range []string{"ray:2.9", "tool:latest", "registry.io:5000/big:v1", "registry.io:5000/bare:latest"} {
			if g.oneIn(2) {
				node.Status.Images = append(node.Status.Images, v1.ContainerImage{Names: []string{image}, SizeBytes: int64(g.below(2_000_000_000))})
			}
		}
	}
	return node
}

func (g *Generator) requests(m mood) v1.ResourceList {
	list := v1.ResourceList{}
	if !g.oneIn(3) {
		list[v1.ResourceCPU] = resource.MustParse(pick(g, "0", "100m", "250m", "1", "1500m", "3"))
	}
	if !g.oneIn(3) {
		list[v1.ResourceMemory] = resource.MustParse(pick(g, "0", "128Mi", "200Mi", "1Gi", "1500M", "3Gi"))
	}
	if m.resources {
		if g.oneIn(3) {
			list["nvidia.com/gpu"] = resource.MustParse(pick(g, "0", "1", "2", "5"))
		}
		if g.oneIn(5) {
			list[v1.ResourceEphemeralStorage] = resource.MustParse(pick(g, "1Gi", "20Gi"))
		}
		if g.oneIn(8) {
			list["hugepages-2Mi"] = resource.MustParse(pick(g, "2Mi", "128Mi"))
		}
		if g.oneIn(10) {
			list["example.com/foo"] = resource.MustParse("1")
		}
	}
	return list
}

func (g *Generator) container(name string, m mood) v1.Container {
	c := v1.Container{Name: name, Resources: v1.ResourceRequirements{Requests: g.requests(m)}}
	if m.images {
		c.Image = pick(g, "ray:2.9", "tool", "registry.io:5000/big:v1", "registry.io:5000/bare", "other:1")
	}
	if m.ports && g.oneIn(2) {
		c.Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: int32(8000 + g.below(3)), Protocol: pick(g, v1.ProtocolTCP, v1.ProtocolUDP),
			HostIP: pick(g, "", "0.0.0.0", "10.0.0.1", "10.0.0.2")}}
	}
	return c
}

func (g *Generator) pod(name string, m mood) *v1.Pod {
	pod := &v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pod.Name, pod.Namespace, pod.UID = name, pick(g, "default", "default", "other"), types.UID("uid-"+name)
	pod.Labels = map[string]string{}
	for _, key := range []string{"app", "tier"} {
		if !g.oneIn(3) {
			pod.Labels[key] = pick(g, "a", "b", "c")
		}
	}
	spec := &pod.Spec
	spec.SchedulerName = "default-scheduler"
	for i := range 1 + g.below(2) {
		spec.Containers = append(spec.Containers, g.container(fmt.Sprintf("c%d", i), m))
	}
	if g.oneIn(4) {
		init := g.container("init", m)
		if g.oneIn(2) {
			always := v1.ContainerRestartPolicyAlways
			init.RestartPolicy = &always
		} else {
			init.Ports = nil
		}
		spec.InitContainers = append(spec.InitContainers, init)
	}
	if g.oneIn(8) {
		spec.Overhead = v1.ResourceList{v1.ResourceCPU: resource.MustParse("50m"), v1.ResourceMemory: resource.MustParse("64Mi")}
	}
	if m.taints {
		for range g.below(3) {
			spec.Tolerations = append(spec.Tolerations, g.toleration())
		}
	}
	if m.affinity {
		g.nodeAffinity(spec)
	}
	if m.spread {
		for range g.below(3) {
			spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, g.spread())
		}
	}
	if m.podAffinity {
		g.podAffinity(spec)
	}
	if m.selections && !g.oneIn(4) {
		g.owner(pod)
	}
	return pod
}

func (g *Generator) toleration() v1.Toleration {
	t := v1.Toleration{Key: pick(g, "gpu", "spot", "team", "node.kubernetes.io/unschedulable"), Operator: pick(g, v1.TolerationOpExists, v1.TolerationOpEqual, ""),
		Effect: pick(g, "", v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)}
	if t.Operator != v1.TolerationOpExists {
		t.Value = pick(g, "", "yes", "no")
	} else if g.oneIn(6) {
		t.Key = ""
	}
	return t
}

func (g *Generator) requirement(valid bool) v1.NodeSelectorRequirement {
	r := v1.NodeSelectorRequirement{Key: pick(g, "disk", "gen", "topology.kubernetes.io/zone", "none"),
		Operator: pick(g, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt)}
	switch r.Operator {
	case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
		r.Values = []string{pick(g, "ssd", "hdd", "", "z1", "z2", "5")}
		if g.oneIn(2) {
			r.Values = append(r.Values, pick(g, "z3", "10", "new"))
		}
	case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
		r.Values = []string{pick(g, "3", "0", "7")}
		if !valid && g.oneIn(3) {
			r.Values = []string{"-5"} // not a label value: in a required term it matches nothing, in a preferred one it is an error
		}
	}
	return r
}

func (g *Generator) term(valid bool) v1.NodeSelectorTerm {
	term := v1.NodeSelectorTerm{}
	for range g.below(3) {
		term.MatchExpressions = append(term.MatchExpressions, g.requirement(valid))
	}
	if g.oneIn(5) {
		term.MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: pick(g, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn),
			Values: []string{fmt.Sprintf("node-%d", g.below(5))}}}
		if g.oneIn(4) {
			term.MatchFields = append(term.MatchFields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: v1.NodeSelectorOpIn,
				Values: []string{fmt.Sprintf("node-%d", g.below(5))}})
		}
	}
	return term
}

func (g *Generator) nodeAffinity(spec *v1.PodSpec) {
	if g.oneIn(3) {
		spec.NodeSelector = map[string]string{"disk": pick(g, "ssd", "hdd")}
	}
	affinity := &v1.NodeAffinity{}
	if g.oneIn(2) {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{}
		for range 1 + g.below(2) {
			affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms =
				append(affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, g.term(false))
		}
	}
	for range g.below(4) {
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution,
			v1.PreferredSchedulingTerm{Weight: int32(1 + g.below(100)), Preference: g.term(true)})
	}
	spec.Affinity = &v1.Affinity{NodeAffinity: affinity}
}

func (g *Generator) selector() *metav1.LabelSelector {
	switch g.below(10) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	case 2, 3:
		s := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: pick(g, "app", "tier"),
			Operator: pick(g, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}}}
		if op := s.MatchExpressions[0].Operator; op == metav1.LabelSelectorOpIn || op == metav1.LabelSelectorOpNotIn {
			s.MatchExpressions[0].Values = []string{pick(g, "a", "b"), pick(g, "b", "c")}
		}
		return s
	default:
		return &metav1.LabelSelector{MatchLabels: map[string]string{pick(g, "app", "tier"): pick(g, "a", "b", "c")}}
	}
}

func (g *Generator) topologyKey() string {
	return pick(g, "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "disk")
}

func (g *Generator) spread() v1.TopologySpreadConstraint {
	c := v1.TopologySpreadConstraint{MaxSkew: int32(1 + g.below(3)), TopologyKey: g.topologyKey(), LabelSelector: g.selector(),
		WhenUnsatisfiable: pick(g, v1.DoNotSchedule, v1.ScheduleAnyway)}
	if g.oneIn(3) {
		policy := pick(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore)
		c.NodeAffinityPolicy = &policy
	}
	if g.oneIn(3) {
		policy := pick(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore)
		c.NodeTaintsPolicy = &policy
	}
	if g.oneIn(4) {
		c.MatchLabelKeys = []string{pick(g, "app", "tier")}
	}
	if c.WhenUnsatisfiable == v1.DoNotSchedule && g.oneIn(3) {
		domains := int32(1 + g.below(4))
		c.MinDomains = &domains
	}
	return c
}

func (g *Generator) podTerm() v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{TopologyKey: g.topologyKey(), LabelSelector: g.selector()}
	if g.oneIn(4) {
		t.Namespaces = []string{pick(g, "default", "other", "gone")}
	}
	if t.LabelSelector != nil && g.oneIn(4) {
		t.MatchLabelKeys = []string{"app"}
		if g.oneIn(2) {
			t.MismatchLabelKeys = []string{"tier"}
		}
	}
	switch g.below(6) {
	case 0:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(g, "a", "b")}}
	}
	return t
}

func (g *Generator) podAffinity(spec *v1.PodSpec) {
	if spec.Affinity == nil {
		spec.Affinity = &v1.Affinity{}
	}
	required := func() (terms []v1.PodAffinityTerm) {
		for range g.below(2) * (1 + g.below(2)) {
			terms = append(terms, g.podTerm())
		}
		return terms
	}
	preferred := func() (terms []v1.WeightedPodAffinityTerm) {
		for range g.below(2) * (1 + g.below(2)) {
			terms = append(terms, v1.WeightedPodAffinityTerm{Weight: int32(1 + g.below(100)), PodAffinityTerm: g.podTerm()})
		}
		return terms
	}
	if g.oneIn(2) {
		spec.Affinity.PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred()}
		if g.oneIn(2) {
			spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required()
		}
	}
	if g.oneIn(2) {
		spec.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred()}
		if g.oneIn(2) {
			spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required()
		}
	}
}

// created is the pod as the API server keeps it: the label keys of affinity terms are in their selectors. (Those of spread
// constraints are as well, but kube-scheduler reads them itself.)
func created(pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	if pod.Spec.Affinity == nil {
		return pod
	}
	merge := func(term *v1.PodAffinityTerm) {
		add := func(keys []string, operator metav1.LabelSelectorOperator) {
			for _, key := range keys {
				if value, ok := pod.Labels[key]; ok {
					term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions,
						metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
				}
			}
		}
		add(term.MatchLabelKeys, metav1.LabelSelectorOpIn)
		add(term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	}
	both := func(required []v1.PodAffinityTerm, preferred []v1.WeightedPodAffinityTerm) {
		for i := range required {
			merge(&required[i])
		}
		for i := range preferred {
			merge(&preferred[i].PodAffinityTerm)
		}
	}
	if a := pod.Spec.Affinity.PodAffinity; a != nil {
		both(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := pod.Spec.Affinity.PodAntiAffinity; a != nil {
		both(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return pod
}

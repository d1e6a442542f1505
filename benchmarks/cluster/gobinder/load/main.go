// SPDX-License-Identifier: Apache-2.0

// load fills a cluster with nodes and pending pods for a measurement. It is no client of the project's own, so that what is
// measured has no part in how the stage is set.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type options struct {
	nodes, pods, gang, inFlight   int
	namespace, scheduler, dialect string
	podCPU, podMemory             string
	podGPUs, zones, racks, pools  int
	apps                          int
	apart, spread, pooled, inRack bool
	name, group                   string
	priorityClass                 string
	onNodes                       int
	clear, holdLast               bool
}

var groupVersions = map[string]string{"volcano": "scheduling.volcano.sh/v1beta1",
	"scheduler-plugins": "scheduling.x-k8s.io/v1alpha1", "upstream": "scheduling.k8s.io/v1alpha2"}

const (
	rackLabel = "example.com/rack"
	poolLabel = "example.com/pool"
)

type task func(context.Context, *kubernetes.Clientset) error

func main() {
	var o options
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "the cluster")
	flag.IntVar(&o.nodes, "nodes", 0, "how many nodes: 32 CPU, 256Gi, 8 GPU each")
	flag.IntVar(&o.pods, "pods", 0, "how many pods")
	flag.IntVar(&o.gang, "gang", 0, "pods of a gang; 0: lone pods")
	flag.StringVar(&o.dialect, "dialect", "volcano", "whose PodGroups the gangs have: volcano, scheduler-plugins or upstream")
	flag.StringVar(&o.namespace, "namespace", "default", "of the pods; must exist")
	flag.StringVar(&o.scheduler, "scheduler-name", "raw-binder", "of the pods")
	flag.StringVar(&o.podCPU, "pod-cpu", "100m", "each pod's request")
	flag.StringVar(&o.podMemory, "pod-memory", "128Mi", "each pod's request")
	flag.IntVar(&o.podGPUs, "pod-gpus", 0, "each pod's request; 0: none")
	flag.IntVar(&o.zones, "zones", 0, "zones of the nodes; 0: none")
	flag.IntVar(&o.racks, "racks", 0, "racks of the nodes; 0: none")
	flag.IntVar(&o.pools, "pools", 0, "pools of the nodes; 0: none")
	flag.IntVar(&o.apps, "apps", 1, "labels `app` of the pods, each of as many pods in a row")
	flag.BoolVar(&o.apart, "apart", false, "no two pods of an app on a node")
	flag.BoolVar(&o.spread, "spread", false, "an app's pods evenly over the zones")
	flag.BoolVar(&o.pooled, "pooled", false, "pods have node affinity to one pool each")
	flag.BoolVar(&o.inRack, "in-rack", false, "a gang's pods in one rack (upstream's PodGroups only)")
	flag.BoolVar(&o.clear, "clear", false, "delete the namespace's pods, Events and PodGroups of that dialect first")
	flag.BoolVar(&o.holdLast, "hold-last", false, "create the last pod only once a line comes in on standard input")
	flag.StringVar(&o.name, "name", "pod", "what the pods' names begin with")
	flag.StringVar(&o.group, "group-name", "gang", "what the PodGroups' names begin with")
	flag.StringVar(&o.priorityClass, "priority-class", "", "of the pods, and of Volcano's PodGroups; must exist")
	flag.IntVar(&o.onNodes, "on-nodes", 0, "make the pods bound, in turn to so many nodes; 0: they wait")
	flag.IntVar(&o.inFlight, "in-flight", 64, "requests at a time")
	flag.Parse()
	if o.holdLast && o.pods == 0 {
		fail(fmt.Errorf("-hold-last needs -pods"))
	}
	if groupVersions[o.dialect] == "" {
		fail(fmt.Errorf("-dialect is volcano, scheduler-plugins or upstream, not %q", o.dialect))
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fail(err)
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	start := time.Now()
	old, err := o.clearTasks(client)
	if err != nil {
		fail(err)
	}
	pods, held := o.podTasks(), []task(nil)
	if o.holdLast {
		pods, held = pods[:o.pods-1], pods[o.pods-1:]
	}
	// In this order: gangs before their members, so that nobody has to wait for one.
	for _, tasks := range [][]task{old, o.nodeTasks(), o.groupTasks(), pods} {
		if err := do(client, tasks, o.inFlight); err != nil {
			fail(err)
		}
	}
	fmt.Printf("%d nodes and %d pods in %.1f s\n", o.nodes, len(pods), time.Since(start).Seconds())
	if o.holdLast {
		bufio.NewReader(os.Stdin).ReadString('\n')
		if err := do(client, held, 1); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "load:", err)
	os.Exit(1)
}

// do runs the tasks, and returns the first error.
func do(client *kubernetes.Clientset, tasks []task, inFlight int) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(tasks) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := tasks[i](ctx, client); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// clearTasks finds what is there; one by one, 64 at a time, as the API server goes through a collection one after another.
func (o *options) clearTasks(client *kubernetes.Clientset) ([]task, error) {
	if !o.clear {
		return nil, nil
	}
	var tasks []task
	for version, plural := range map[string]string{"/api/v1": "pods", "/apis/events.k8s.io/v1": "events",
		"/apis/" + groupVersions[o.dialect]: "podgroups"} {
		path := version + "/namespaces/" + o.namespace + "/" + plural
		body, err := client.CoreV1().RESTClient().Get().AbsPath(path).
			SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").DoRaw(context.Background())
		var list metav1.PartialObjectMetadataList
		if err == nil {
			err = json.Unmarshal(body, &list)
		}
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			tasks = append(tasks, func(ctx context.Context, client *kubernetes.Clientset) error {
				rest := client.CoreV1().RESTClient()
				// The finalizer of upstream's PodGroups waits for a controller that is not there.
				if len(item.Finalizers) > 0 {
					free := rest.Patch(types.MergePatchType).AbsPath(path, item.Name).Body([]byte(`{"metadata":{"finalizers":null}}`))
					if err := free.Do(ctx).Error(); err != nil {
						return err
					}
				}
				return rest.Delete().AbsPath(path, item.Name).Param("gracePeriodSeconds", "0").Do(ctx).Error()
			})
		}
	}
	return tasks, nil
}

func (o *options) nodeTasks() []task {
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
		"nvidia.com/gpu": resource.MustParse("8"),
	}
	var tasks []task
	for i := range o.nodes {
		name := fmt.Sprintf("node-%05d", i)
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
			Status: corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}},
		}
		label(node, corev1.LabelTopologyZone, "zone", i, o.zones)
		label(node, rackLabel, "rack", i, o.racks)
		label(node, poolLabel, "pool", i, o.pools)
		tasks = append(tasks, func(ctx context.Context, client *kubernetes.Clientset) error {
			_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			return err
		})
	}
	return tasks
}

// label puts node i into one of n domains.
func label(node *corev1.Node, key, domain string, i, n int) {
	if n > 0 {
		node.Labels[key] = fmt.Sprintf("%s-%d", domain, i%n)
	}
}

func (o *options) groupTasks() []task {
	if o.gang == 0 {
		return nil
	}
	version := groupVersions[o.dialect]
	var tasks []task
	if o.dialect == "volcano" && o.nodes > 0 {
		tasks = append(tasks, o.custom("/apis/"+version+"/queues", map[string]any{
			"apiVersion": version, "kind": "Queue", "metadata": map[string]any{"name": "default"},
			"spec": map[string]any{"weight": 1}}))
	}
	for first := 0; first < o.pods; first += o.gang {
		tasks = append(tasks, o.custom("/apis/"+version+"/namespaces/"+o.namespace+"/podgroups", map[string]any{
			"apiVersion": version, "kind": "PodGroup",
			"metadata": map[string]any{"name": o.groupOf(first), "namespace": o.namespace},
			"spec":     o.groupSpec(min(o.gang, o.pods-first))}))
	}
	return tasks
}

func (o *options) groupSpec(members int) map[string]any {
	if o.dialect != "upstream" {
		spec := map[string]any{"minMember": members}
		if o.priorityClass != "" && o.dialect == "volcano" {
			spec["priorityClassName"] = o.priorityClass
		}
		return spec
	}
	spec := map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": members}}}
	if o.inRack {
		spec["schedulingConstraints"] = map[string]any{"topology": []any{map[string]any{"key": rackLabel}}}
	}
	return spec
}

// custom creates an object of a kind that this program has no types of.
func (o *options) custom(path string, object map[string]any) task {
	return func(ctx context.Context, client *kubernetes.Clientset) error {
		body, err := json.Marshal(object)
		if err != nil {
			return err
		}
		// The typed client's connection: that of client.RESTClient(), for discovery, has a rate limit of its own.
		return client.CoreV1().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").
			SetHeader("Accept", "application/json").Body(body).Do(ctx).Error()
	}
}

func (o *options) groupOf(pod int) string { return fmt.Sprintf("%s-%05d", o.group, pod/o.gang) }

func (o *options) podTasks() []task {
	resources := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(o.podCPU),
		corev1.ResourceMemory: resource.MustParse(o.podMemory)}}
	if o.podGPUs > 0 {
		gpus := *resource.NewQuantity(int64(o.podGPUs), resource.DecimalSI)
		resources.Requests["nvidia.com/gpu"] = gpus
		resources.Limits = corev1.ResourceList{"nvidia.com/gpu": gpus}
	}
	var tasks []task
	for i := range o.pods {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%05d", o.name, i), Namespace: o.namespace,
				Labels: map[string]string{"app": fmt.Sprintf("app-%d", i*o.apps/o.pods)}},
			Spec: corev1.PodSpec{SchedulerName: o.scheduler, PriorityClassName: o.priorityClass, Containers: []corev1.Container{{
				Name: "main", Image: "registry.k8s.io/pause:3.10", Resources: resources}}},
		}
		if o.onNodes > 0 {
			pod.Spec.NodeName = fmt.Sprintf("node-%05d", i%o.onNodes)
		}
		o.constrain(pod, i)
		if o.gang > 0 && o.dialect == "volcano" {
			pod.Annotations = map[string]string{"scheduling.k8s.io/group-name": o.groupOf(i)}
		} else if o.gang > 0 && o.dialect == "upstream" {
			group := o.groupOf(i)
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
		} else if o.gang > 0 {
			pod.Labels["scheduling.x-k8s.io/pod-group"] = o.groupOf(i)
		}
		tasks = append(tasks, func(ctx context.Context, client *kubernetes.Clientset) error {
			_, err := client.CoreV1().Pods(o.namespace).Create(ctx, pod, metav1.CreateOptions{})
			return err
		})
	}
	return tasks
}

// constrain adds what the case asks of pod i's place.
func (o *options) constrain(pod *corev1.Pod, i int) {
	same := &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}}
	pod.Spec.Affinity = &corev1.Affinity{}
	if o.apart {
		pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{LabelSelector: same, TopologyKey: corev1.LabelHostname}}}
	}
	if o.pooled {
		here := corev1.NodeSelectorRequirement{Key: poolLabel, Operator: corev1.NodeSelectorOpIn,
			Values: []string{fmt.Sprintf("pool-%d", i%o.pools)}}
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{here}}}}}
	}
	if o.spread {
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1,
			TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: same}}
	}
	if !o.apart && !o.pooled {
		pod.Spec.Affinity = nil
	}
}

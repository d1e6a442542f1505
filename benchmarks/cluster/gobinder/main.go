// SPDX-License-Identifier: Apache-2.0

// gobinder is the limit that a scheduler written with client-go could reach: it holds the pod and node informers of one,
// decides nothing, and binds every pending pod of one schedulerName to the nodes in turn.
//
// Prints one line of JSON: how many pods it bound, how fast, and when its lists were complete.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type result struct {
	Nodes            int     `json:"nodes"`
	Asked            int     `json:"asked"`
	Bound            int64   `json:"bound"`
	InFlight         int     `json:"in_flight"`
	ListSeconds      float64 `json:"list_s"`
	BindSeconds      float64 `json:"bind_s"`
	BindsPerSecond   float64 `json:"binds_per_s"`
	StartToLastBindS float64 `json:"start_to_last_bind_s"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "the cluster")
	scheduler := flag.String("scheduler-name", "raw-binder", "pods of this schedulerName")
	inFlight := flag.Int("in-flight", 80, "requests at a time")
	quorum := flag.Int("wait-for", 0, "binds nothing before that many pods are there")
	timeout := flag.Duration("timeout", 2*time.Minute, "after which it gives up")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	outcome, err := run(ctx, *kubeconfig, *scheduler, *quorum, *inFlight)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gobinder:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(outcome); err != nil || int(outcome.Bound) != outcome.Asked {
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, scheduler string, quorum, inFlight int) (*result, error) {
	start := time.Now()
	client, err := connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods, nodes := factory.Core().V1().Pods(), factory.Core().V1().Nodes()
	enough := func() bool { return len(pods.Informer().GetStore().ListKeys()) >= quorum }
	synced := []cache.InformerSynced{pods.Informer().HasSynced, nodes.Informer().HasSynced, enough}
	factory.Start(ctx.Done())
	if !waitFor(ctx, synced) {
		return nil, fmt.Errorf("pods and nodes were not all there in time")
	}
	listed := time.Now()
	allNodes, err := nodes.Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	allPods, err := pods.Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	if len(allNodes) == 0 {
		return nil, fmt.Errorf("there is no node to bind to")
	}
	bindings := plan(allPods, allNodes, scheduler)
	bound := bindAll(ctx, client, bindings, inFlight)
	end := time.Now()
	span := end.Sub(listed).Seconds()
	return &result{Nodes: len(allNodes), Asked: len(bindings), Bound: bound, InFlight: inFlight,
		ListSeconds: listed.Sub(start).Seconds(), BindSeconds: span, BindsPerSecond: float64(bound) / span,
		StartToLastBindS: end.Sub(start).Seconds()}, nil
}

func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // no limit of the client's own
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfig(config)
}

// cache.WaitForCacheSync looks every 100 ms only, which would count against this binder.
func waitFor(ctx context.Context, synced []cache.InformerSynced) bool {
	for _, has := range synced {
		for !has() {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(time.Millisecond):
			}
		}
	}
	return true
}

func plan(pods []*corev1.Pod, nodes []*corev1.Node, scheduler string) []*corev1.Binding {
	var bindings []*corev1.Binding
	for _, pod := range pods {
		if pod.Spec.NodeName != "" || pod.Spec.SchedulerName != scheduler {
			continue
		}
		bindings = append(bindings, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: nodes[len(bindings)%len(nodes)].Name},
		})
	}
	return bindings
}

func bindAll(ctx context.Context, client *kubernetes.Clientset, bindings []*corev1.Binding, inFlight int) int64 {
	work := make(chan *corev1.Binding)
	var bound, complaints atomic.Int64
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for binding := range work {
				err := client.CoreV1().Pods(binding.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
				if err == nil {
					bound.Add(1)
				} else if complaints.Add(1) <= 5 {
					fmt.Fprintln(os.Stderr, "gobinder: not bound:", err)
				}
			}
		})
	}
	for _, binding := range bindings {
		work <- binding
	}
	close(work)
	workers.Wait()
	return bound.Load()
}

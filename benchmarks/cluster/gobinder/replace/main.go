// SPDX-License-Identifier: Apache-2.0

// replace makes the writes by which pending pods take the place of bound ones, and decides nothing: the limit against which
// preemption is measured. For each pending pod of one schedulerName it tells the next pod of the victims' why it goes, deletes
// it, says on the pending pod which node is kept, waits until the victim is gone, and binds.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "the cluster")
	namespace := flag.String("namespace", "default", "of the pods")
	scheduler := flag.String("scheduler-name", "raw-binder", "of the pending pods")
	victims := flag.String("victims", "low-", "what the names of the pods that go begin with")
	inFlight := flag.Int("in-flight", 80, "replacements at a time")
	flag.Parse()
	if err := run(*kubeconfig, *namespace, *scheduler, *victims, *inFlight); err != nil {
		fmt.Fprintln(os.Stderr, "replace:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace, scheduler, prefix string, inFlight int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx := context.Background()
	pods := client.CoreV1().Pods(namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var pending, victims []*corev1.Pod
	gone := map[string]chan struct{}{}
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.Spec.NodeName == "" && pod.Spec.SchedulerName == scheduler {
			pending = append(pending, pod)
		} else if pod.Spec.NodeName != "" && strings.HasPrefix(pod.Name, prefix) {
			victims = append(victims, pod)
			gone[pod.Name] = make(chan struct{})
		}
	}
	if len(victims) < len(pending) {
		return fmt.Errorf("%d pods wait, and only %d can go", len(pending), len(victims))
	}
	sort.Slice(victims, func(i, j int) bool { return victims[i].Name < victims[j].Name })
	changes, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	go func() {
		for event := range changes.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == watch.Deleted && gone[pod.Name] != nil {
				close(gone[pod.Name])
			}
		}
	}()
	replace := func(pod, victim *corev1.Pod) error {
		told := status(map[string]any{"conditions": []any{map[string]any{"type": "DisruptionTarget", "status": "True",
			"reason": "PreemptionByScheduler", "message": "makes room", "lastTransitionTime": metav1.Now()}}})
		if _, err := pods.Patch(ctx, victim.Name, types.StrategicMergePatchType, told, metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
		uid := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(victim.UID))}
		if err := pods.Delete(ctx, victim.Name, uid); err != nil {
			return err
		}
		kept := status(map[string]any{"nominatedNodeName": victim.Spec.NodeName})
		if _, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, kept, metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
		if err := await(ctx, pods, victim.Name, gone[victim.Name]); err != nil {
			return err
		}
		return pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
			Target: corev1.ObjectReference{Kind: "Node", Name: victim.Spec.NodeName}}, metav1.CreateOptions{})
	}
	var next, failed atomic.Int64
	var workers sync.WaitGroup
	start := time.Now()
	for range inFlight {
		workers.Go(func() {
			for i := int(next.Add(1) - 1); i < len(pending); i = int(next.Add(1) - 1) {
				if err := replace(pending[i], victims[i]); err != nil {
					failed.Add(1)
					fmt.Fprintln(os.Stderr, "replace:", err)
				}
			}
		})
	}
	workers.Wait()
	if failed.Load() > 0 {
		return fmt.Errorf("%d of %d pods are not bound", failed.Load(), len(pending))
	}
	fmt.Printf("%d pods replaced in %.2f s\n", len(pending), time.Since(start).Seconds())
	return nil
}

// await returns when the pod is gone: the watch says so, or, should that have broken, a look once a second.
func await(ctx context.Context, pods corev1client.PodInterface, name string, gone <-chan struct{}) error {
	for range 60 {
		select {
		case <-gone:
			return nil
		case <-time.After(time.Second):
		}
		if _, err := pods.Get(ctx, name, metav1.GetOptions{}); errors.IsNotFound(err) {
			return nil
		}
	}
	return fmt.Errorf("%s does not go", name)
}

func status(fields map[string]any) []byte {
	body, _ := json.Marshal(map[string]any{"status": fields})
	return body
}

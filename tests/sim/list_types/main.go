// SPDX-License-Identifier: Apache-2.0

// Lists the fields of the built-in kinds from their Go types, in the form of sim/builtin_types.cc:
//
//	go run . > ../../../sim/builtin_types.cc
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var roots = []any{
	corev1.Pod{}, corev1.Node{}, corev1.Namespace{}, corev1.Event{}, corev1.Service{}, corev1.Endpoints{},
	corev1.ConfigMap{}, corev1.Secret{}, corev1.ServiceAccount{}, corev1.PersistentVolumeClaim{},
	corev1.PersistentVolume{}, corev1.ReplicationController{}, corev1.LimitRange{}, corev1.ResourceQuota{},
	corev1.Binding{}, appsv1.ReplicaSet{}, appsv1.Deployment{}, appsv1.StatefulSet{}, appsv1.DaemonSet{}, batchv1.Job{},
	coordinationv1.Lease{}, eventsv1.Event{}, schedulingv1.PriorityClass{}, schedulingv1alpha2.PodGroup{},
	schedulingv1alpha2.Workload{}, policyv1.PodDisruptionBudget{}, policyv1.Eviction{}, autoscalingv1.Scale{},
	storagev1.StorageClass{}, storagev1.CSINode{}, storagev1.CSIDriver{}, storagev1.CSIStorageCapacity{},
	storagev1.VolumeAttachment{}, rbacv1.Role{}, rbacv1.RoleBinding{}, rbacv1.ClusterRole{}, rbacv1.ClusterRoleBinding{},
	resourcev1.ResourceClaim{}, resourcev1.ResourceClaimTemplate{}, resourcev1.DeviceClass{}, resourcev1.ResourceSlice{},
	networkingv1.Ingress{}, metav1.DeleteOptions{}, corev1.PodTemplate{}, appsv1.ControllerRevision{},
	batchv1.CronJob{}, discoveryv1.EndpointSlice{}, nodev1.RuntimeClass{},
	authorizationv1.SelfSubjectAccessReview{}, authorizationv1.SelfSubjectRulesReview{},
	authorizationv1.SubjectAccessReview{}, authenticationv1.TokenReview{},
	authenticationv1.SelfSubjectReview{},
}

// Two packages may use one name; the table has one space of names.
var renamed = map[reflect.Type]string{
	reflect.TypeFor[eventsv1.Event]():                               "EventsEvent",
	reflect.TypeFor[eventsv1.EventSeries]():                         "EventsEventSeries",
	reflect.TypeFor[corev1.ResourceClaim]():                         "ContainerResourceClaim",
	reflect.TypeFor[schedulingv1alpha2.TypedLocalObjectReference](): "SchedulingTypedLocalObjectReference",
	reflect.TypeFor[authorizationv1.ResourceRule]():                 "SubjectResourceRule",
	reflect.TypeFor[discoveryv1.EndpointPort]():                     "EndpointSlicePort",
	reflect.TypeFor[authorizationv1.NonResourceRule]():              "SubjectNonResourceRule",
}

var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microtime",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "int-or-string",
	reflect.TypeFor[runtime.RawExtension](): "raw",
	reflect.TypeFor[metav1.FieldsV1]():      "raw",
	reflect.TypeFor[[]byte]():               "bytes",
}

var types = map[string]reflect.Type{}

func nameOf(t reflect.Type) string {
	if name, ok := renamed[t]; ok {
		return name
	}
	return t.Name()
}

func spell(t reflect.Type) string {
	if name, ok := special[t]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + spell(t.Elem())
	case reflect.Slice:
		if t.Name() != "" && t.Elem().Kind() != reflect.Struct {
			return "any" // a named list is a message of its own on the wire
		}
		return "[]" + strings.TrimPrefix(spell(t.Elem()), "*")
	case reflect.Map:
		return "{}" + spell(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32:
		return "int32"
	case reflect.Int64, reflect.Int:
		return "int64"
	case reflect.Struct:
		add(t)
		return nameOf(t)
	}
	panic(t.String())
}

// The fields of a struct; those of an inlined one come as if they were its own, with both numbers, or with none
// (prefix "off") where it is not on the wire.
func fields(t reflect.Type, prefix string) []string {
	var all []string
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		number := "0"
		if tag := strings.Split(f.Tag.Get("protobuf"), ","); len(tag) > 1 {
			number = tag[1]
		}
		if name == "-" {
			continue
		}
		if name == "" && strings.Contains(options, "inline") {
			inner := "off"
			if number != "0" {
				inner = prefix + number + "."
			}
			all = append(all, fields(f.Type, inner)...)
			continue
		}
		required := ""
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = "!"
		}
		if prefix == "off" {
			number = "0"
		} else if number != "0" {
			number = prefix + number
		}
		all = append(all, fmt.Sprintf("%s=%s%s %s", name, number, required, spell(f.Type)))
	}
	sort.Strings(all)
	return all
}

func add(t reflect.Type) {
	name := nameOf(t)
	if old, ok := types[name]; ok {
		if old != t {
			panic(fmt.Sprintf("%v and %v are both called %s", old, t, name))
		}
		return
	}
	types[name] = t
	fields(t, "")
}

func wrap(line string) string {
	var out, row strings.Builder
	for _, word := range strings.Split(line, ", ") {
		if row.Len()+len(word) > 118 {
			out.WriteString(strings.TrimRight(row.String(), " ") + "\n")
			row.Reset()
			row.WriteString("  ")
		}
		row.WriteString(word + ", ")
	}
	return out.String() + strings.TrimSuffix(row.String(), ", ")
}

func main() {
	for _, root := range roots {
		add(reflect.TypeOf(root))
	}
	var names []string
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Print(`// SPDX-License-Identifier: Apache-2.0
// The fields of the built-in kinds, their numbers in protobuf and their types. Made by tests/sim/list_types.
//   Type: field=number type, list=number []type, map=number {}type
// "!" after the number: required. "*" before the type: absent and zero differ. A number of two parts is of a message
// within a message, whose fields JSON shows as the outer one's; 0: not on the wire.
#include "sim/type_table.h"

namespace tutti::sim {

const char kBuiltinTypes[] = R"types(
`)
	for _, name := range names {
		fmt.Println(strings.TrimRight(wrap(name+": "+strings.Join(fields(types[name], ""), ", ")), " "))
	}
	fmt.Print(`)types";

}  // namespace tutti::sim
`)
	fmt.Fprintf(os.Stderr, "%d types\n", len(names))
}

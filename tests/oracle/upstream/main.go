// SPDX-License-Identifier: Apache-2.0

// oracle asks kube-scheduler's own framework and plugins the questions that `tutti evaluate` answers, and compares the
// feasible nodes, which plugin refuses which node and why, whether pods leaving could change it, every score raw,
// normalised and weighted, the totals and the summary sentence. For a pod that fits nowhere it also compares the
// victims that would make room on each node, and the node that is chosen.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"sort"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

const progressEvery = 10_000

func main() {
	answer := flag.String("answer", "", "the program that answers as `tutti evaluate` does, a question a line")
	questions := flag.Int("questions", 3000, "how many to ask")
	seed := flag.Uint64("seed", 1, "of the generator")
	from := flag.Int("from", 0, "the first question that is asked; those before it are made, and left out")
	keep := flag.String("keep", "", "write the first question that is answered differently to this file")
	flag.Parse()
	if err := run(*answer, *questions, *from, *seed, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run(program string, questions, from int, seed uint64, keep string) error {
	klog.SetOutput(discard{})
	klog.LogToStderr(false)
	quiet := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(quiet)
	_ = quiet.Set("stderrthreshold", "FATAL")
	metrics.Register()
	// Device claims need informers of their own, and no question has any (see also withoutClaims).
	// Nor is anything evicted behind our backs.
	if err := utilfeature.DefaultMutableFeatureGate.Set("DRAExtendedResource=false,SchedulerAsyncPreemption=false"); err != nil {
		return err
	}
	other, err := start(program)
	if err != nil {
		return err
	}
	generator := NewGenerator(seed)
	coverage := NewCoverage()
	differences := 0
	for number := range questions {
		q := generator.Question(number)
		if number < from {
			continue
		}
		theirs, err := ask(q)
		if err != nil {
			return fmt.Errorf("question %d: %w", number, err)
		}
		text, err := json.Marshal(q)
		if err != nil {
			return err
		}
		ours, err := other.ask(text)
		if err != nil {
			return fmt.Errorf("question %d: %w", number, err)
		}
		if number > 0 && number%progressEvery == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d questions, %d differences\n", number, questions, differences)
		}
		coverage.Add(q, theirs)
		if found := compare(theirs, ours); len(found) > 0 {
			differences++
			if differences <= 5 {
				fmt.Printf("question %d of seed %d:\n", number, seed)
				for _, line := range found {
					fmt.Println("  " + line)
				}
			}
			if keep != "" && differences == 1 {
				if err := os.WriteFile(keep, text, 0o644); err != nil {
					return err
				}
			}
		}
	}
	fmt.Print(coverage)
	fmt.Printf("questions: %d, seed: %d, differences: %d\n", questions, seed, differences)
	if differences > 0 {
		return fmt.Errorf("%d of %d questions were answered differently", differences, questions)
	}
	if missing := coverage.Missing(); questions >= 3000 && len(missing) > 0 {
		return fmt.Errorf("the questions do not reach: %v", missing)
	}
	return nil
}

// ask puts the question to a kube-scheduler of its own, whose goroutines end with it.
func ask(q *Question) (*Answer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scheduler, err := NewScheduler(ctx, q.Config)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, q.Config)
	}
	return scheduler.Ask(ctx, q)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

type answerer struct {
	in  *bufio.Writer
	out *bufio.Scanner
}

func start(program string) (*answerer, error) {
	command := exec.Command(program)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 64<<20)
	return &answerer{bufio.NewWriter(in), scanner}, command.Start()
}

func (a *answerer) ask(question []byte) (*Answer, error) {
	if _, err := a.in.Write(append(question, '\n')); err != nil {
		return nil, err
	}
	if err := a.in.Flush(); err != nil {
		return nil, err
	}
	if !a.out.Scan() {
		return nil, fmt.Errorf("the answering program ended: %v", a.out.Err())
	}
	answer := &Answer{}
	return answer, json.Unmarshal(a.out.Bytes(), answer)
}

func compare(theirs, ours *Answer) (found []string) {
	differ := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if ours.Error != "" {
		differ("error: %s", ours.Error)
		return found
	}
	byName := map[string]NodeAnswer{}
	for _, node := range ours.Nodes {
		byName[node.Name] = node
	}
	if len(byName) != len(theirs.Nodes) {
		differ("nodes: %d there, %d here", len(theirs.Nodes), len(byName))
	}
	feasible := false
	for _, node := range theirs.Nodes {
		mine := byName[node.Name]
		feasible = feasible || node.Feasible
		if node.Feasible != mine.Feasible {
			differ("%s: feasible: %v there, %v here; %v | %v", node.Name, node.Feasible, mine.Feasible, node.RejectedBy, mine.RejectedBy)
			continue
		}
		if !node.Feasible {
			sort.Strings(node.RejectedBy[0].Reasons)
			sort.Strings(mine.RejectedBy[0].Reasons)
			if !reflect.DeepEqual(node.RejectedBy[0], mine.RejectedBy[0]) {
				differ("%s: rejected: %v there, %v here", node.Name, node.RejectedBy[0], mine.RejectedBy[0])
			}
			continue
		}
		// A plugin that upstream skips for this pod adds nothing; here it may say so with a score of 0.
		names := map[string]bool{}
		for name := range node.Scores {
			names[name] = true
		}
		for name := range mine.Scores {
			names[name] = true
		}
		for name := range names {
			if node.Scores[name] != mine.Scores[name] {
				differ("%s: %s: %v there, %v here", node.Name, name, node.Scores[name], mine.Scores[name])
			}
		}
		if node.Total != mine.Total {
			differ("%s: total: %d there, %d here", node.Name, node.Total, mine.Total)
		}
	}
	if !feasible && theirs.Summary != ours.Summary {
		differ("summary: %q there, %q here", theirs.Summary, ours.Summary)
	}
	if theirs.Preemption != nil && ours.Preemption == nil {
		differ("preemption: %v there, none here", *theirs.Preemption)
	} else if theirs.Preemption != nil {
		comparePreemption(theirs.Preemption, ours.Preemption, differ)
	}
	return found
}

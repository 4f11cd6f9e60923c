// etcd's concurrency.Mutex and Election, as the lines on standard input say: see driver.hpp.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

var (
	servers string
	clients []*clientv3.Client
	guard   sync.Mutex
	forever = context.Background()
)

type order map[string]string

func (o order) number(name string, without int) int {
	if text, there := o[name]; there {
		n, err := strconv.Atoi(text)
		check(err)
		return n
	}
	return without
}

func (o order) time() time.Duration {
	seconds, err := strconv.ParseFloat(o["seconds"], 64)
	check(err)
	return time.Duration(seconds * float64(time.Second))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd_driver:", err)
		os.Exit(1)
	}
}

// client returns the client with that number: each has a connection of its own.
func client(i int) *clientv3.Client {
	guard.Lock()
	defer guard.Unlock()
	for len(clients) <= i {
		c, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(servers, ","), DialTimeout: 10 * time.Second})
		check(err)
		clients = append(clients, c)
	}
	return clients[i]
}

// session begins a lease, which is one participant of each lock.
func session(i int) *concurrency.Session {
	s, err := concurrency.NewSession(client(i), concurrency.WithTTL(30))
	check(err)
	return s
}

type figures map[string]interface{}

func report(operations int, took time.Duration, times []time.Duration) figures {
	f := figures{"operations": operations, "seconds": took.Seconds()}
	if len(times) > 0 {
		sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
		f["median_us"] = float64(times[len(times)/2].Nanoseconds()) / 1000
		f["p99_us"] = float64(times[len(times)*99/100].Nanoseconds()) / 1000
	}
	return f
}

func acquire(o order) figures {
	s := session(0)
	defer s.Close()
	m := concurrency.NewMutex(s, o["path"])
	var times []time.Duration
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for time.Since(start) < o.time() {
		begin := time.Now()
		check(m.Lock(forever))
		check(m.Unlock(forever))
		times = append(times, time.Since(begin))
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	f := report(len(times), took, times)
	f["allocations"] = float64(after.Mallocs-before.Mallocs) / float64(len(times))
	f["allocated"] = float64(after.TotalAlloc-before.TotalAlloc) / float64(len(times))
	return f
}

// contend lets `participants` sessions of `clients` clients take turns. Times run from a release to the next grant.
func contend(o order, participants, clients int) figures {
	var times []time.Duration
	var released time.Time
	var operations int
	var done int32
	var all sync.WaitGroup
	sessions := make([]*concurrency.Session, participants)
	for i := range sessions {
		sessions[i] = session(i % clients)
		defer sessions[i].Close()
	}
	start := time.Now()
	for _, s := range sessions {
		m := concurrency.NewMutex(s, o["path"])
		all.Add(1)
		go func() {
			defer all.Done()
			for atomic.LoadInt32(&done) == 0 {
				check(m.Lock(forever))
				if now := time.Now(); atomic.LoadInt32(&done) == 0 {
					operations++
					if !released.IsZero() {
						times = append(times, now.Sub(released))
					}
				}
				released = time.Now()
				check(m.Unlock(forever))
			}
		}()
	}
	time.Sleep(o.time())
	took := time.Since(start)
	atomic.StoreInt32(&done, 1)
	all.Wait()
	return report(operations, took, times)
}

func handoff(o order) figures {
	n := o.number("clients", 2)
	return contend(o, n, n)
}

func threads(o order) figures { return contend(o, o.number("threads", 8), 1) }

var (
	first   *concurrency.Mutex
	granted = make(chan time.Time, 100000)
)

// queue returns when `waiters` sessions wait behind one.
func queue(o order) figures {
	start := time.Now()
	first = concurrency.NewMutex(session(0), o["path"])
	check(first.Lock(forever))
	waiters, n := o.number("waiters", 100), o.number("clients", 20)
	var all sync.WaitGroup
	for k := 0; k < n; k++ {
		all.Add(1)
		go func(k int) {
			defer all.Done()
			for i := k; i < waiters; i += n {
				m := concurrency.NewMutex(session(k), o["path"])
				go func() {
					check(m.Lock(forever))
					granted <- time.Now()
					check(m.Unlock(forever))
				}()
			}
		}(k)
	}
	all.Wait()
	for {
		found, err := client(0).Get(forever, o["path"]+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		check(err)
		if int(found.Count) > waiters {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return report(waiters, time.Since(start), nil)
}

// drain releases the first one, and waits until so many others have held.
func drain(o order) figures {
	count := o.number("count", 100)
	start := time.Now()
	last := start
	var times []time.Duration
	check(first.Unlock(forever))
	for i := 0; i < count; i++ {
		now := <-granted
		times = append(times, now.Sub(last))
		last = now
	}
	return report(count, time.Since(start), times)
}

func leader(o order) figures {
	var candidates [2]*concurrency.Election
	for i := range candidates {
		s := session(i)
		defer s.Close()
		candidates[i] = concurrency.NewElection(s, o["path"])
	}
	check(candidates[0].Campaign(forever, "0"))
	var times []time.Duration
	start := time.Now()
	for turn := 0; time.Since(start) < o.time() || turn < 2; turn++ {
		leads, follows := candidates[turn%2], candidates[(turn+1)%2]
		elected := make(chan time.Time)
		go func() {
			check(follows.Campaign(forever, "1"))
			elected <- time.Now()
		}()
		time.Sleep(10 * time.Millisecond)
		begin := time.Now()
		check(leads.Resign(forever))
		times = append(times, (<-elected).Sub(begin))
	}
	took := time.Since(start)
	check(candidates[len(times)%2].Resign(forever))
	return report(len(times), took, times)
}

func main() {
	servers = os.Args[1]
	workloads := map[string]func(order) figures{"acquire": acquire, "handoff": handoff, "threads": threads,
		"queue": queue, "drain": drain, "leader": leader, "pipeline": acquire}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		o := order{}
		for _, word := range words[1:] {
			pair := strings.SplitN(word, "=", 2)
			o[pair[0]] = pair[1]
		}
		line, err := json.Marshal(workloads[words[0]](o))
		check(err)
		fmt.Println(string(line))
	}
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's locks, as the lines on standard input say: see driver.hpp. */
public final class CuratorDriver {
    private static String servers;
    private static final List<CuratorFramework> clients = new ArrayList<>();
    private static final List<Thread> waiters = new ArrayList<>();
    private static final BlockingQueue<Long> grants = new LinkedBlockingQueue<>();
    private static final AtomicInteger holders = new AtomicInteger();
    private static InterProcessMutex first;

    private CuratorDriver() {}

    /** What a line asks for. */
    private record Order(Map<String, String> values) {
        int number(String name) {
            return Integer.parseInt(values.get(name));
        }

        String path() {
            return values.get("path");
        }

        long nanoseconds() {
            return (long) (Double.parseDouble(values.get("seconds")) * 1e9);
        }
    }

    /** Durations of operations in nanoseconds, and what else a workload brought. */
    private static final class Figures {
        private final List<Long> times = new ArrayList<>();
        private final Map<String, Double> values = new HashMap<>();

        Figures total(int operations, long nanoseconds) {
            values.put("seconds", nanoseconds / 1e9);
            values.put("operations", (double) operations);
            return this;
        }

        String line() {
            if (!times.isEmpty()) {
                times.sort(null);
                values.put("median_us", times.get(times.size() / 2) / 1e3);
                values.put("p99_us", times.get((int) (times.size() * 0.99)) / 1e3);
            }
            List<String> pairs = new ArrayList<>();
            values.forEach((name, value) -> pairs.add(String.format(Locale.ROOT, "\"%s\": %.4f", name, value)));
            return "{" + String.join(", ", pairs) + "}";
        }
    }

    private interface Work {
        void run(int number) throws Exception;
    }

    /** The client with that number. Each has a session of its own. */
    private static synchronized CuratorFramework client(int number) throws InterruptedException {
        while (clients.size() <= number) {
            CuratorFramework client = CuratorFrameworkFactory.builder()
                    .connectString(servers)
                    .sessionTimeoutMs(30_000)
                    .retryPolicy(new ExponentialBackoffRetry(50, 20, 1000))
                    .build();
            client.start();
            client.blockUntilConnected();
            clients.add(client);
        }
        return clients.get(number);
    }

    private static void fail(Throwable e) {
        e.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    private static Thread start(Work work, int number) {
        Thread thread = new Thread(() -> {
            try {
                work.run(number);
            } catch (Exception e) {
                fail(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Runs `work` in so many threads, until the time is over and each has ended. */
    private static long forATime(Order o, int threads, AtomicBoolean over, Work work) throws InterruptedException {
        long begin = System.nanoTime();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; ++i) {
            all.add(start(work, i));
        }
        TimeUnit.NANOSECONDS.sleep(o.nanoseconds());
        long took = System.nanoTime() - begin;
        over.set(true);
        for (Thread thread : all) {
            thread.join();
        }
        return took;
    }

    private static long allocated() {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        return LongStream.of(threads.getThreadAllocatedBytes(threads.getAllThreadIds())).sum();
    }

    private static Figures acquire(Order o) throws Exception {
        InterProcessMutex lock = new InterProcessMutex(client(0), o.path());
        return repeat(o, number -> {
            lock.acquire();
            lock.release();
        });
    }

    private static Figures repeat(Order o, Work work) throws Exception {
        Figures f = new Figures();
        long before = allocated();
        long begin = System.nanoTime();
        long end = begin + o.nanoseconds();
        for (long start = begin; start < end; ) {
            work.run(f.times.size());
            long now = System.nanoTime();
            f.times.add(now - start);
            start = now;
        }
        f.total(f.times.size(), System.nanoTime() - begin);
        f.values.put("allocated", (allocated() - before) / (double) f.times.size());
        return f;
    }

    /** One thread takes one of `count` locks after the other. */
    private static Figures pipeline(Order o) throws Exception {
        int count = o.number("count");
        List<InterProcessMutex> locks = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            locks.add(new InterProcessMutex(client(0), o.path() + "/" + i));
        }
        return repeat(o, number -> {
            locks.get(number % count).acquire();
            locks.get(number % count).release();
        });
    }

    /** Each client has a thread. Times run from a release to the next grant. */
    private static Figures handoff(Order o) throws Exception {
        int count = o.number("clients");
        List<InterProcessMutex> locks = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            locks.add(new InterProcessMutex(client(i), o.path()));
        }
        return contend(o, count, locks);
    }

    /** Threads that share one mutex. */
    private static Figures threads(Order o) throws Exception {
        return contend(o, o.number("threads"), List.of(new InterProcessMutex(client(0), o.path())));
    }

    private static Figures contend(Order o, int threads, List<InterProcessMutex> locks) throws Exception {
        Figures f = new Figures();
        AtomicBoolean over = new AtomicBoolean();
        long held = Long.parseLong(o.values().getOrDefault("hold", "0"));
        long[] released = new long[1];
        long took = forATime(o, threads, over, i -> {
            InterProcessMutex lock = locks.get(i % locks.size());
            while (!over.get()) {
                lock.acquire();
                long now = System.nanoTime();
                synchronized (f) {
                    if (released[0] != 0 && !over.get()) {
                        f.times.add(now - released[0]);
                    }
                }
                TimeUnit.MICROSECONDS.sleep(held);
                synchronized (f) {
                    released[0] = System.nanoTime();
                }
                lock.release();
            }
        });
        return f.total(f.times.size(), took);
    }

    private static Figures readers(Order o) throws Exception {
        int count = o.number("clients");
        int percent = o.number("percent");
        List<InterProcessReadWriteLock> locks = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            locks.add(new InterProcessReadWriteLock(client(i), o.path()));
        }
        Figures f = new Figures();
        AtomicBoolean over = new AtomicBoolean();
        long took = forATime(o, count, over, i -> {
            List<Long> times = new ArrayList<>();
            for (int n = i * 100 / count; !over.get(); ++n) {
                long begin = System.nanoTime();
                InterProcessMutex lock =
                        n % 100 < percent ? locks.get(i).readLock() : locks.get(i).writeLock();
                lock.acquire();
                lock.release();
                times.add(System.nanoTime() - begin);
            }
            synchronized (f) {
                f.times.addAll(times);
            }
        });
        return f.total(f.times.size(), took);
    }

    /** A thread that waits for the lock, and releases it at once if it is to be drained. */
    private static void addWaiter(InterProcessMutex lock, boolean drained) {
        waiters.add(start(
                number -> {
                    lock.acquire();
                    holders.incrementAndGet();
                    if (drained) {
                        grants.add(System.nanoTime());
                        lock.release();
                    } else {
                        Thread.sleep(Long.MAX_VALUE);
                    }
                },
                0));
    }

    /** Returns when all threads hold or have waited for a while. A waiter wakes for no other reason. */
    private static void waitUntilQueued() throws InterruptedException {
        for (int quiet = 0; quiet < 20; ) {
            boolean all = true;
            for (Thread thread : waiters) {
                Thread.State state = thread.getState();
                all &= state == Thread.State.TIMED_WAITING || state == Thread.State.WAITING;
            }
            quiet = all ? quiet + 1 : 0;
            Thread.sleep(20);
        }
    }

    private static Figures queue(Order o) throws Exception {
        int count = o.number("waiters");
        long begin = System.nanoTime();
        first = new InterProcessMutex(client(0), o.path());
        first.acquire();
        for (int i = 0; i < count; ++i) {  // an event wakes all threads that wait in one object
            addWaiter(new InterProcessMutex(client(i % o.number("clients")), o.path()), true);
        }
        while (client(0).getChildren().forPath(o.path()).size() <= count) {
            Thread.sleep(50);
        }
        long took = System.nanoTime() - begin;
        waitUntilQueued();
        return new Figures().total(count, took);
    }

    private static Figures drain(Order o) throws Exception {
        int count = o.number("count");
        Figures f = new Figures();
        long begin = System.nanoTime();
        first.release();
        long before = begin;
        for (int i = 0; i < count; ++i) {
            long now = grants.take();
            f.times.add(now - before);
            before = now;
        }
        return f.total(count, System.nanoTime() - begin);
    }

    private static Figures waiting(Order o) throws Exception {
        int count = o.number("count");
        long begin = System.nanoTime();
        for (int i = 0; i < count; ++i) {
            addWaiter(new InterProcessMutex(client(0), o.path() + "/" + i), false);
        }
        waitUntilQueued();
        return new Figures().total(count, System.nanoTime() - begin);
    }

    /** From the close of one candidate to the election of the other. */
    private static Figures leader(Order o) throws Exception {
        Figures f = new Figures();
        long begin = System.nanoTime();
        BlockingQueue<Long> elected = new LinkedBlockingQueue<>();
        LeaderLatch leads = candidate(0, o.path(), elected);
        elected.take();
        for (int turn = 1; System.nanoTime() - begin < o.nanoseconds() || turn < 3; ++turn) {
            LeaderLatch follows = candidate(turn % 2, o.path(), elected);
            while (leads.getParticipants().size() < 2) {
                Thread.sleep(1);
            }
            Thread.sleep(10);
            long start = System.nanoTime();
            leads.close();
            f.times.add(elected.take() - start);
            leads = follows;
        }
        f.total(f.times.size(), System.nanoTime() - begin);
        leads.close();
        return f;
    }

    private static LeaderLatch candidate(int client, String path, BlockingQueue<Long> elected) throws Exception {
        LeaderLatch latch = new LeaderLatch(client(client), path);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                elected.add(System.nanoTime());
            }

            @Override
            public void notLeader() {}
        });
        latch.start();
        return latch;
    }

    private static Figures answer(String workload, Order o) throws Exception {
        switch (workload) {
            case "acquire":
                return acquire(o);
            case "pipeline":
                return pipeline(o);
            case "handoff":
                return handoff(o);
            case "threads":
                return threads(o);
            case "readers":
                return readers(o);
            case "queue":
                return queue(o);
            case "drain":
                return drain(o);
            case "wait":
                return waiting(o);
            case "leader":
                return leader(o);
            default:
                throw new IllegalArgumentException("no workload " + workload);
        }
    }

    public static void main(String[] arguments) throws Exception {
        servers = arguments[0];
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                Map<String, String> values = new HashMap<>();
                for (int i = 1; i < words.length; ++i) {
                    String[] pair = words[i].split("=", 2);
                    values.put(pair[0], pair[1]);
                }
                System.out.println(answer(words[0], new Order(values)).line());
            }
        } catch (Exception e) {
            fail(e);
        }
        Runtime.getRuntime().halt(0);
    }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/**
 * A Java program that uses Curator's locks as it is told, line by line. Commands and answers: peer.hpp.
 */
public final class CuratorPeer {
    /** One lock object; used by one thread, as Curator wants it. */
    interface Lock {
        /** Less than zero waits for ever. */
        boolean acquire(long milliseconds, int permits) throws Exception;

        void release() throws Exception;

        Collection<String> participants() throws Exception;
    }

    private static final class Mutex implements Lock {
        private final InterProcessMutex mutex;

        Mutex(InterProcessMutex mutex) {
            this.mutex = mutex;
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            if (milliseconds >= 0) {
                return mutex.acquire(milliseconds, TimeUnit.MILLISECONDS);
            }
            mutex.acquire();
            return true;
        }

        @Override
        public void release() throws Exception {
            mutex.release();
        }

        @Override
        public Collection<String> participants() throws Exception {
            return mutex.getParticipantNodes();
        }
    }

    /** Locks on several paths, below the one that is given. */
    private static final class MultiLock implements Lock {
        private final InterProcessLock lock;

        MultiLock(InterProcessLock lock) {
            this.lock = lock;
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            if (milliseconds >= 0) {
                return lock.acquire(milliseconds, TimeUnit.MILLISECONDS);
            }
            lock.acquire();
            return true;
        }

        @Override
        public void release() throws Exception {
            lock.release();
        }

        @Override
        public Collection<String> participants() {
            return List.of();
        }
    }

    private static final class Semaphore implements Lock {
        private final InterProcessSemaphoreV2 semaphore;
        private Collection<Lease> leases = List.of();

        Semaphore(InterProcessSemaphoreV2 semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            Collection<Lease> granted = milliseconds < 0
                    ? semaphore.acquire(permits)
                    : semaphore.acquire(permits, milliseconds, TimeUnit.MILLISECONDS);
            leases = granted == null ? List.of() : granted;
            return granted != null;
        }

        @Override
        public void release() {
            semaphore.returnAll(leases);
        }

        @Override
        public Collection<String> participants() throws Exception {
            return semaphore.getParticipantNodes();
        }
    }

    /** The recipe that comes with ZooKeeper itself. */
    private static final class Recipe implements Lock {
        private final CuratorFramework client;
        private final String path;
        private final Runnable watching;
        private WriteLock lock;

        Recipe(CuratorFramework client, String path, Runnable watching) {
            this.client = client;
            this.path = path;
            this.watching = watching;
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            CompletableFuture<Void> acquired = new CompletableFuture<>();
            lock = new WriteLock(client.getZookeeperClient().getZooKeeper(), path, ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    new LockListener() {
                        @Override
                        public void lockAcquired() {
                            acquired.complete(null);
                        }

                        @Override
                        public void lockReleased() {}
                    });
            if (!lock.lock()) {
                watching.run();
            }
            if (milliseconds < 0) {
                acquired.get();
            } else {
                acquired.completeOnTimeout(null, milliseconds, TimeUnit.MILLISECONDS).get();
                if (!lock.isOwner()) {
                    lock.unlock();
                    return false;
                }
            }
            return true;
        }

        @Override
        public void release() {
            lock.unlock();
        }

        @Override
        public Collection<String> participants() throws Exception {
            return client.getChildren().forPath(path);
        }
    }

    private record Opened(Lock lock, ExecutorService thread) {}

    private final CuratorFramework client;
    private final Map<String, Opened> locks = new ConcurrentHashMap<>();

    private CuratorPeer(String servers) throws InterruptedException {
        client = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs(30_000)
                .retryPolicy(new ExponentialBackoffRetry(50, 20, 1000))
                .build();
        client.start();
        client.blockUntilConnected();
    }

    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private Lock open(String name, String kind, String path, int limit) {
        switch (kind) {
            case "mutex":
                return new Mutex(new InterProcessMutex(client, path));
            case "revocable": {
                InterProcessMutex mutex = new InterProcessMutex(client, path);
                mutex.makeRevocable(who -> say("- revoked " + name));
                return new Mutex(mutex);
            }
            case "read":
                return new Mutex(new InterProcessReadWriteLock(client, path).readLock());
            case "write":
                return new Mutex(new InterProcessReadWriteLock(client, path).writeLock());
            case "multi":
                return new MultiLock(new InterProcessMultiLock(client, List.of(path + "/a", path + "/b")));
            case "semaphore":
                return new Semaphore(new InterProcessSemaphoreV2(client, path, limit));
            case "recipe":
                return new Recipe(client, path, () -> say("- watching " + name));
            case "barrier":
                return new CuratorRendezvous.Barrier(client, path);
            case "double_barrier":
                return new CuratorRendezvous.DoubleBarrier(client, path, limit);
            case "latch":
                return new CuratorElection.Latch(client, path, name);
            case "selector":
                return new CuratorElection.Selector(client, path, name);
            case "group":
                return new CuratorRendezvous.Group(client, path, name);
            default:
                throw new IllegalArgumentException("kind " + kind);
        }
    }

    /** Its server may be behind the others; a write comes behind all that they did. */
    static void catchUp(CuratorFramework client) throws Exception {
        client.transaction().forOperations(client.transactionOp().check().forPath("/"));
    }

    private static void increment(Path counter) throws Exception {
        long value = Long.parseLong(Files.readString(counter).trim());
        Files.writeString(counter, (value + 1) + "\n");
    }

    private static String contend(Lock lock, long milliseconds, int permits, String counter) throws Exception {
        StringBuilder intervals = new StringBuilder("ok");
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        while (System.nanoTime() < end) {
            lock.acquire(-1, permits);
            long begin = System.nanoTime();
            if (!counter.equals("-")) {
                increment(Path.of(counter));
            }
            TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextInt(2000));
            intervals.append(' ').append(begin).append(' ').append(System.nanoTime());
            lock.release();
        }
        return intervals.toString();
    }

    private String answer(String[] words) throws Exception {
        String name = words[2];
        switch (words[1]) {
            case "open": {
                int limit = words.length > 5 ? Integer.parseInt(words[5]) : 1;
                locks.put(name, new Opened(open(name, words[3], words[4], limit), Executors.newSingleThreadExecutor()));
                return "ok";
            }
            case "acquire":
                locks.get(name).lock.acquire(-1, Integer.parseInt(words[3]));
                return "ok";
            case "try":
                return locks.get(name).lock.acquire(Long.parseLong(words[4]), Integer.parseInt(words[3])) ? "ok" : "no";
            case "release":
                locks.get(name).lock.release();
                return "ok";
            case "set":
                ((CuratorRendezvous.Barrier) locks.get(name).lock).set();
                return "ok";
            case "participants": {
                catchUp(client);
                List<String> names = new ArrayList<>();
                for (String path : locks.get(name).lock.participants()) {
                    names.add(path.substring(path.lastIndexOf('/') + 1));
                }
                return "ok " + String.join(" ", names);
            }
            case "contend":
                return contend(
                        locks.get(name).lock, Long.parseLong(words[4]), Integer.parseInt(words[3]), words[5]);
            case "revoke":
                Revoker.attemptRevoke(client, name);
                return "ok";
            default:
                throw new IllegalArgumentException("command " + words[1]);
        }
    }

    private void obey(String[] words) {
        try {
            say(words[0] + " " + answer(words));
        } catch (Exception e) {
            say(words[0] + " error " + e.toString().replace('\n', ' '));
        }
    }

    /** Commands to one lock wait for each other; who is there is told at any time. */
    private void dispatch(String[] words) {
        Opened opened = words[1].equals("participants") ? null : locks.get(words[2]);
        if (opened == null) {
            obey(words);
        } else {
            opened.thread.execute(() -> obey(words));
        }
    }

    public static void main(String[] arguments) throws Exception {
        CuratorPeer peer = new CuratorPeer(arguments[0]);
        say("- ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            peer.dispatch(line.split(" "));
        }
        peer.client.close();
        System.exit(0);
    }
}

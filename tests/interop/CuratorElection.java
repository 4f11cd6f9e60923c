import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;

/**
 * Curator's elections, in the words of locks: to acquire is to become the leader, to release is to be none any more.
 * Participants are told as ids, the leader's with a star behind it.
 */
final class CuratorElection {
    private CuratorElection() {}

    private static Collection<String> ids(Collection<Participant> participants) {
        List<String> ids = new ArrayList<>();
        for (Participant one : participants) {
            ids.add(one.getId() + (one.isLeader() ? "*" : ""));
        }
        return ids;
    }

    /** Says "elected NAME" and "deposed NAME". */
    static final class Latch implements CuratorPeer.Lock {
        private final CuratorFramework client;
        private final String path;
        private final String id;
        private volatile LeaderLatch latch;

        Latch(CuratorFramework client, String path, String id) {
            this.client = client;
            this.path = path;
            this.id = id;
            latch = made();
        }

        private LeaderLatch made() {
            LeaderLatch fresh = new LeaderLatch(client, path, id, LeaderLatch.CloseMode.NOTIFY_LEADER);
            fresh.addListener(new LeaderLatchListener() {
                @Override
                public void isLeader() {
                    CuratorPeer.say("- elected " + id);
                }

                @Override
                public void notLeader() {
                    CuratorPeer.say("- deposed " + id);
                }
            });
            return fresh;
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            latch.start();
            if (milliseconds < 0) {
                latch.await();
                return true;
            }
            if (latch.await(milliseconds, TimeUnit.MILLISECONDS)) {
                return true;
            }
            release();
            return false;
        }

        @Override
        public void release() throws Exception {
            latch.close();
            latch = made();
        }

        @Override
        public Collection<String> participants() throws Exception {
            return ids(latch.getParticipants());
        }
    }

    /** Leads until it is released; a selector for each time. */
    static final class Selector implements CuratorPeer.Lock {
        private final CuratorFramework client;
        private final String path;
        private final String id;
        private volatile LeaderSelector selector;
        private Semaphore finish;

        Selector(CuratorFramework client, String path, String id) {
            this.client = client;
            this.path = path;
            this.id = id;
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            CountDownLatch leads = new CountDownLatch(1);
            Semaphore done = new Semaphore(0);
            finish = done;
            selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework ignored) throws InterruptedException {
                    leads.countDown();
                    done.acquire();
                }
            });
            selector.setId(id);
            selector.start();
            if (milliseconds < 0) {
                leads.await();
                return true;
            }
            if (leads.await(milliseconds, TimeUnit.MILLISECONDS)) {
                return true;
            }
            selector.close();
            return false;
        }

        @Override
        public void release() {
            finish.release();
            while (selector.hasLeadership()) {
                Thread.onSpinWait();
            }
            selector.close();
        }

        @Override
        public Collection<String> participants() throws Exception {
            return ids(selector.getParticipants());
        }
    }
}

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;

/**
 * Curator's recipes for those that wait for each other, or want to know of each other, in the words of locks.
 */
final class CuratorRendezvous {
    private CuratorRendezvous() {}

    /** To acquire it is to wait until it does not stand; to release it is to take it away. */
    static final class Barrier implements CuratorPeer.Lock {
        private final CuratorFramework client;
        private final DistributedBarrier barrier;

        Barrier(CuratorFramework client, String path) {
            this.client = client;
            barrier = new DistributedBarrier(client, path);
        }

        void set() throws Exception {
            barrier.setBarrier();
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            CuratorPeer.catchUp(client);
            if (milliseconds >= 0) {
                return barrier.waitOnBarrier(milliseconds, TimeUnit.MILLISECONDS);
            }
            barrier.waitOnBarrier();
            return true;
        }

        @Override
        public void release() throws Exception {
            barrier.removeBarrier();
        }

        @Override
        public Collection<String> participants() {
            return List.of();
        }
    }

    /** To acquire it is to enter, to release it is to leave; both wait for the others. */
    static final class DoubleBarrier implements CuratorPeer.Lock {
        private final DistributedDoubleBarrier barrier;

        DoubleBarrier(CuratorFramework client, String path, int participants) {
            barrier = new DistributedDoubleBarrier(client, path, participants);
        }

        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            if (milliseconds >= 0) {
                return barrier.enter(milliseconds, TimeUnit.MILLISECONDS);
            }
            barrier.enter();
            return true;
        }

        @Override
        public void release() throws Exception {
            barrier.leave();
        }

        @Override
        public Collection<String> participants() {
            return List.of();
        }
    }

    /** To acquire it is to be in the group from then on, to release it is to leave. Says of itself what it is. */
    static final class Group implements CuratorPeer.Lock {
        private final GroupMember member;

        Group(CuratorFramework client, String path, String name) {
            member = new GroupMember(client, path, name, "curator".getBytes(StandardCharsets.UTF_8));
        }

        /** Returns when Curator knows its znode: a close() before that can leave it (3 of 41,000 did). */
        @Override
        public boolean acquire(long milliseconds, int permits) throws Exception {
            member.start();
            Field znode = GroupMember.class.getDeclaredField("pen");
            znode.setAccessible(true);
            return ((PersistentNode) znode.get(member)).waitForInitialCreate(30, TimeUnit.SECONDS);
        }

        @Override
        public void release() {
            member.close();
        }

        @Override
        public Collection<String> participants() {
            Collection<String> members = new TreeSet<>();
            for (Map.Entry<String, byte[]> each : member.getCurrentMembers().entrySet()) {
                members.add(each.getKey() + ":" + new String(each.getValue(), StandardCharsets.UTF_8));
            }
            return members;
        }
    }
}

/** Computes and allocates in several threads, as often as its argument says. */
public class Busy {
    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[4];
        long[] sums = new long[threads.length];
        for (int t = 0; t < threads.length; t++) {
            final int id = t;
            threads[t] = new Thread(() -> {
                long x = id;
                for (int i = 0; i < times; i++) {
                    x = x * 6364136223846793005L + i;
                    if ((i & 0xfffff) == 0) x += new byte[1 << 16].length;
                }
                sums[id] = x;
            });
            threads[t].start();
        }
        for (Thread t : threads) t.join();
    }
}

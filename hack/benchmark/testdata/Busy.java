/** Computes and allocates for a while in several threads, and prints how many nanoseconds that took. */
public class Busy {
    public static void main(String[] args) throws Exception {
        long start = System.nanoTime();
        Thread[] threads = new Thread[4];
        long[] sums = new long[threads.length];
        for (int t = 0; t < threads.length; t++) {
            final int id = t;
            threads[t] = new Thread(() -> {
                long x = id;
                for (int i = 0; i < 200_000_000; i++) {
                    x = x * 6364136223846793005L + i;
                    if ((i & 0xfffff) == 0) x += new byte[1 << 16].length;
                }
                sums[id] = x;
            });
            threads[t].start();
        }
        for (Thread t : threads) t.join();
        System.out.println(System.nanoTime() - start);
    }
}

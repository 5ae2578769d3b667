import java.util.ArrayList;
import java.util.List;

/** An agent on a JVM: it starts its first argument by every way there is. */
public class Agent {
    static Object hit;

    public static void main(String[] args) throws Exception {
        System.out.println("agent: " + (System.getenv("AGENT_KEY") != null ? "has the key" : "has no key"));
        try {
            hit.hashCode(); // a fault that the JVM itself turns into an exception
        } catch (NullPointerException e) {
            System.out.println("fault: caught");
        }
        if (args.length > 1) { // a command of its own, with this process's number
            List<String> command = new ArrayList<>(List.of(args));
            command.add("tool");
            command.add(String.valueOf(ProcessHandle.current().pid()));
            run(new ProcessBuilder(command));
            return;
        }
        run(new ProcessBuilder(args[0], "-l", "ProcessBuilder"));
        Process p = Runtime.getRuntime().exec(new String[] {args[0], "-l", "Runtime.exec"});
        p.getInputStream().transferTo(System.out);
        p.waitFor();
        ProcessBuilder b = new ProcessBuilder(args[0], "-l", "environment", "SET", "AGENT_KEY");
        b.environment().put("SET", "on-purpose");
        b.environment().put("AGENT_KEY", "other");
        run(b);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread t = new Thread(() -> {
                try {
                    run(new ProcessBuilder(args[0], "-l", "thread"));
                } catch (Exception e) {
                    System.out.println(e);
                }
            });
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    static void run(ProcessBuilder b) throws Exception {
        b.redirectOutput(ProcessBuilder.Redirect.INHERIT);
        b.start().waitFor();
    }
}

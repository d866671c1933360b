//! The JVM.

use super::support::{Pair, installed};

const HELLO: &str = r#"import java.nio.file.*;
import java.util.concurrent.*;

public class Hello {
    public static void main(String[] arguments) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        System.out.println(threads.submit(() -> 42).get());
        threads.shutdown();
        Path file = Files.createTempFile("hello", ".txt");
        Files.writeString(file, "file");
        System.out.println(Files.readString(file) + " " + java.time.LocalDate.of(2020, 1, 1));
        Files.delete(file);
        Process child = new ProcessBuilder("echo", "child").start();
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.exit(child.waitFor() + 5);
    }
}
"#;

#[test]
fn java_compiles_under_workspace_and_runs_under_filesystem() {
    if installed(&["java", "javac"]) {
        let pair = Pair::new();
        pair.file("Hello.java", HELLO);
        pair.succeeds(&["workspace"], &["javac", "Hello.java"]);
        let ended = pair.same(&["filesystem", "mcp-standard"], &["java", "Hello"]);
        assert_eq!(ended.code, Some(5));
    }
}

#[test]
fn java_starts_under_minimal() {
    if installed(&["java"]) {
        Pair::new().succeeds(&["minimal"], &["java", "--version"]);
    }
}

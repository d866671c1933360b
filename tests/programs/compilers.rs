//! Compilers, build tools, and what they make.

use super::support::{Pair, installed};

const HELLO: &str = r#"#include <stdio.h>
#include <locale.h>
#include <pthread.h>
static void *thread(void *text) { return text; }
int main(int count, char **arguments) {
    void *text;
    pthread_t other;
    setlocale(LC_ALL, "");
    pthread_create(&other, NULL, thread, "thread");
    pthread_join(other, &text);
    printf("%s %d %s\n", (char *)text, count, arguments[1]);
    return 3;
}
"#;

#[test]
fn a_static_and_a_dynamic_program_run_under_minimal() {
    if installed(&["gcc"]) {
        let pair = Pair::new();
        pair.file("hello.c", HELLO);
        pair.prepare(&["gcc", "-pthread", "-static", "-o", "static", "hello.c"]);
        pair.prepare(&["gcc", "-pthread", "-o", "dynamic", "hello.c"]);
        for program in ["./static", "./dynamic"] {
            let ended = pair.same(&["minimal", "readonly", "workspace"], &[program, "x"]);
            assert_eq!(ended.code, Some(3));
        }
    }
}

#[test]
fn make_and_gcc_build_under_workspace() {
    if installed(&["gcc", "make"]) {
        let pair = Pair::new();
        pair.file("main.c", "int five(void);\nint main(void) { return five() - 5; }\n");
        pair.file("five.c", "int five(void) { return 5; }\n");
        pair.file(
            "Makefile",
            "program: main.o five.o\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -O2 -g -Wall -c $< -o $@\n",
        );
        pair.succeeds(&["workspace"], &["make"]);
        pair.succeeds(&["workspace"], &["./program"]);
        pair.succeeds(&["workspace"], &["make", "-s", "-j2", "-B"]);
    }
}

#[test]
fn what_is_compiled_into_a_temporary_directory_runs_under_filesystem() {
    if installed(&["gcc", "bash"]) {
        let pair = Pair::new();
        pair.file("hello.c", HELLO);
        let script = "work=$(mktemp -d); gcc -pthread -o $work/program hello.c && $work/program x; code=$?
            rm -r $work; exit $code";
        let ended = pair.same(&["filesystem", "workspace"], &["bash", "-c", script]);
        assert_eq!(ended.code, Some(3));
    }
}

#[test]
fn cargo_builds_tests_and_runs_a_crate_offline_under_workspace() {
    if !installed(&["cargo", "gcc"]) {
        return;
    }
    let pair = Pair::new();
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let main = "fn main() { println!(\"tiny {}\", env!(\"MADE\")); }\n#[test]\nfn works() {}\n";
    pair.file("Cargo.toml", manifest).file("src/main.rs", main).file(
        "build.rs",
        "fn main() { println!(\"cargo:rustc-env=MADE=by the build script\"); }\n",
    );
    pair.succeeds(&["workspace"], &["cargo", "build", "--offline"]);
    let ended = pair.succeeds(&["workspace"], &["cargo", "run", "--offline", "-q"]);
    assert_eq!(ended.stdout, "tiny by the build script\n");
    pair.succeeds(&["workspace"], &["./target/debug/tiny"]);
    let tested = pair.run_confined("workspace", &["cargo", "test", "--offline", "-q"]);
    assert!(tested.status.success(), "{}", super::support::text_of(&tested));
}

//! Compilers, build tools, virtual machines.

use std::path::Path;

use super::twins::{Twins, installed};

const MAIN: &str = "int five(void);\nint main(void) { return five() - 5; }\n";
const FIVE: &str = "int five(void) { return 5; }\n";
const MAKEFILE: &str = "CFLAGS = -O2 -g -Wall -MMD -fdebug-prefix-map=$(CURDIR)=.
all: program libfive.a libfive.so
program: main.o five.o
\tgcc -o $@ $^
%.o: %.c
\tgcc $(CFLAGS) -c $< -o $@
libfive.a: five.o
\tar rcsD $@ $^
libfive.so: five.c
\tgcc -shared -fPIC -o $@ $<
install: all
\tinstall -D -m 755 program out/bin/program
\tinstall -D -m 644 libfive.a out/lib/libfive.a
\tln -sf libfive.so out/lib/libfive.so.1
clean:
\trm -f *.o *.d program
";

fn c_project() -> Twins {
    Twins::new()
        .file("main.c", MAIN)
        .file("five.c", FIVE)
        .file("Makefile", MAKEFILE)
}

#[test]
fn make_and_gcc_build_install_and_clean() {
    if installed(&["gcc", "make"]) {
        let twins = c_project();
        twins.same("make; ./program; make; make install");
        twins.same("touch five.c; make; make -B -s -j4; make -s clean; ls");
    }
}

#[test]
fn a_static_c_program_maps_locks_and_splices_files() {
    let source = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    struct stat status;
    int file = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0640);
    if (ftruncate(file, 8192) || posix_fallocate(file, 0, 16384) || flock(file, LOCK_EX)) return 1;
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    page[0] = 'a', page[8191] = 'z';
    if (msync(page, 8192, MS_SYNC) || pwrite(file, "end", 3, 16381) != 3) return 2;
    int copy = open("copied", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0604);
    int plain = open("plain", O_WRONLY | O_CREAT, 0600);
    off_t from = 0;
    if (copy_file_range(file, &from, plain, NULL, 16384, 0) != 16384 || write(copy, "x", 1) != 1) return 3;
    int nameless = open(".", O_TMPFILE | O_RDWR, 0644);
    if (nameless < 0 || write(nameless, "later named", 11) != 11) return 4;
    char name[64];
    sprintf(name, "/proc/self/fd/%d", nameless);
    if (linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW)) return 5;
    int directory = open("/", O_PATH);
    if (openat(directory, "nothing-here", O_RDONLY) != -1 || fstat(copy, &status) || fsync(copy)) return 6;
    printf("%lld %o %o\n", (long long)status.st_size, status.st_mode, umask(0));
    return rename("copied", "renamed") || renameat2(AT_FDCWD, "renamed", AT_FDCWD, "plain", RENAME_EXCHANGE);
}
"#;
    if installed(&["gcc"]) {
        let twins = Twins::new().file("main.c", source);
        twins.same("gcc -static -o main main.c; ./main; ls");
    }
}

#[test]
fn cargo_builds_tests_and_runs_a_crate() {
    // The cargo that runs the tests, not a shim that looks into the home.
    let Some(cargo) = std::env::var_os("CARGO").filter(|_| installed(&["gcc"])) else {
        crate::common::skipped("no cargo runs this test");
        return;
    };
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let main = "fn main() { println!(\"tiny {}\", env!(\"MADE\")); }\n#[test]\nfn works() {}\n";
    let build = "fn main() { println!(\"cargo:rustc-env=MADE=by the build script\"); }\n";
    let twins = Twins::new()
        .searching(Path::new(&cargo).parent().unwrap())
        .file("Cargo.toml", manifest)
        .file("src/main.rs", main)
        .file("build.rs", build)
        .ignoring(&["target/.rustc_info.json", "target/debug/*"])
        .any_stderr();
    twins.same_command(&["cargo", "build", "--offline"]);
    let said = twins.same_command(&["cargo", "run", "--offline", "-q"]);
    assert_eq!(said, "tiny by the build script\n");
    twins.same_command(&["./target/debug/tiny"]);
}

#[test]
fn java_compiles_packs_and_runs() {
    let source = r#"import java.nio.file.*;
import java.nio.file.attribute.*;
import java.util.concurrent.*;

public class Hello {
    public static void main(String[] arguments) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        System.out.println(threads.submit(() -> 42).get());
        threads.shutdown();
        Path file = Files.createTempFile("hello", ".txt");
        Files.writeString(file, "file");
        Files.move(file, Path.of("moved.txt"), StandardCopyOption.REPLACE_EXISTING);
        Files.setLastModifiedTime(Path.of("moved.txt"), FileTime.fromMillis(1000000000000L));
        Files.setPosixFilePermissions(Path.of("moved.txt"), PosixFilePermissions.fromString("r--r-----"));
        Files.createSymbolicLink(Path.of("link"), Path.of("moved.txt"));
        Files.walk(Path.of("sub")).sorted().forEach(System.out::println);
        Process child = new ProcessBuilder("echo", "child").start();
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.exit(child.waitFor());
    }
}
"#;
    if installed(&["java", "javac"]) {
        let twins = Twins::new().file("Hello.java", source).file("sub/deep/file", "x");
        // Java's configuration lies in /etc and comes with Java as the command, not as the command of a script.
        twins.same_command(&["javac", "Hello.java"]);
        twins.same_command(&["java", "Hello"]);
        // The archive holds times.
        let twins = twins.loosely(&["*.jar"]);
        twins.same_command(&[
            "jar",
            "--create",
            "--file",
            "hello.jar",
            "--main-class",
            "Hello",
            "Hello.class",
        ]);
        twins.same("rm link");
        twins.same_command(&["java", "-jar", "hello.jar"]);
    }
}

#[test]
fn go_builds_and_its_program_runs() {
    let source = r#"package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

func main() {
	var group sync.WaitGroup
	for number := 0; number < 20; number++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			name := fmt.Sprintf("made/%02d", number)
			if err := os.WriteFile(name, []byte(name), 0o640); err != nil {
				panic(err)
			}
		}(number)
	}
	group.Wait()
	day := time.Unix(1000000000, 0)
	fmt.Println(os.Chtimes("made/07", day, day), os.Rename("made/08", "made/eight"), os.Remove("made/09"))
	filepath.WalkDir("made", func(path string, entry fs.DirEntry, err error) error {
		fmt.Println(path, err)
		return nil
	})
	said, err := exec.Command("cat", "made/00").Output()
	fmt.Println(string(said), err)
}
"#;
    if installed(&["go"]) {
        let twins = Twins::new()
            .file("go.mod", "module example.org/tiny\n\ngo 1.19\n")
            .file("main.go", source)
            .file("made/keep", "");
        let settings = "export GOFLAGS=-trimpath GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0";
        twins.same(&format!("{settings}; go build -o tiny . && ./tiny && gofmt -l ."));
    }
}

#[test]
fn node_uses_streams_workers_and_promises() {
    let source = r#"
const fs = require('fs'), path = require('path'), { execFileSync } = require('child_process');
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (!isMainThread) {
    fs.writeFileSync('worker.txt', 'from a worker');
    parentPort.postMessage('made');
} else (async () => {
    await fs.promises.mkdir('a/b/c', { recursive: true });
    await Promise.all([...Array(30).keys()].map(n => fs.promises.writeFile(`a/b/${n}`, `${n}`, { mode: 0o600 })));
    const out = fs.createWriteStream('stream.txt');
    for (let n = 0; n < 1000; n++) out.write(`line ${n}\n`);
    await new Promise(done => out.end(done));
    fs.utimesSync('stream.txt', 1e9, 1e9);
    fs.symlinkSync('stream.txt', 'link');
    fs.cpSync('a', 'copy', { recursive: true });
    fs.renameSync('copy/b/1', 'copy/one');
    fs.rmSync('copy/b/c', { recursive: true });
    console.log(fs.readdirSync('copy', { recursive: true }).sort().join(' '), fs.realpathSync('link') === path.resolve('stream.txt'));
    console.log(execFileSync('wc', ['-l', 'link']).toString(), fs.existsSync('absent'), fs.accessSync('.', fs.constants.W_OK));
    const worker = new Worker(__filename);
    worker.on('message', message => { console.log(message); });
    worker.on('exit', code => { process.exitCode = code; });
})();
"#;
    if installed(&["node"]) {
        Twins::new().file("main.js", source).same_command(&["node", "main.js"]);
    }
}

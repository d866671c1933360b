//! Callers whose memory can't be read, and those who try to be such.

use std::os::unix::fs::PermissionsExt;

use crate::common::{finish, is_root, run, skipped};
use crate::supervision::both::{Both, both, both_of, compile, has_compiler};

fn program(words: &[&str], mode: u32) -> Both {
    both_of(words)
        .file("plain", "plain")
        .file(".env", "SECRET")
        .given(move |place| {
            let program = compile(place, "program", include_str!("programs/unreadable.c"), &["-static"]);
            std::fs::set_permissions(program, std::fs::Permissions::from_mode(mode)).unwrap();
        })
}

const FREE: &str = "50 opened, 50 made, 150 changed, 50 secret, 0\n";

#[test]
fn who_hides_its_memory_is_judged_all_the_same() {
    if !has_compiler() {
        return;
    }
    program(&["./program", "hide"], 0o755).print_each(FREE, "50 opened, 50 made, 150 changed, 0 secret, 0\n");
    both(
        r#"
        PR_SET_DUMPABLE = 4
        print(libc.prctl(PR_SET_DUMPABLE, 0))
        for n in range(50):
            expect(open('plain').read() == 'plain'); write('new'); os.unlink('new')
        if os.fork() == 0:
            expect(open('plain').read() == 'plain'); os._exit(0)
        print(os.wait()[1])
        try: print(open('.env').read())
        except PermissionError: print('refused')
        "#,
    )
    .file("plain", "plain")
    .file(".env", "SECRET")
    .print_each("0\n0\nSECRET\n", "0\n0\nrefused\n");
}

// promise: stockade.8
#[test]
fn who_cannot_be_read_is_refused() {
    if !has_compiler() {
        return;
    }
    // Where its user may not read a program, its memory isn't to be read either.
    program(&["./program"], 0o111).print_each(FREE, "0 opened, 0 made, 0 changed, 0 secret, 0\n");
}

/// Nothing shows what such a program has mapped: then what the machine's shared memory grew by counts.
#[test]
fn the_memory_of_who_cannot_be_read_counts() {
    const SHARES: &str = "#include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\
                          int main() {\n\
                            char *all = mmap(0, 400 << 20, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);\n\
                            memset(all, 1, 400 << 20); write(1, \"held\", 4); sleep(60);\n\
                          }\n";
    if !has_compiler() {
        return;
    }
    let begun = run()
        .profile("workspace")
        .flags(["--memory-limit", "128M", "--time-limit", "50s"]);
    let program = compile(&begun.place, "shares", SHARES, &["-static"]);
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o111)).unwrap();
    let ran = begun
        .command(["./shares"])
        .any_stderr()
        .any_stdout()
        .status(137)
        .reporting()
        .ends();
    assert_eq!(ran.report()["limit"], "memory", "{}", ran.report());
}

/// The same as it happens in life: another user's program, as an ordinary user.
#[test]
fn another_users_program_that_cannot_be_read_is_refused() {
    if !is_root() {
        return skipped("an ordinary user has no other user's programs");
    }
    if !has_compiler() {
        return;
    }
    const NOBODY: u32 = 65534;
    let place = crate::common::Place::new();
    let program = compile(&place, "program", include_str!("programs/unreadable.c"), &["-static"]);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o711)).unwrap();
    let stockade = place.root.join("stockade");
    std::fs::copy(crate::common::STOCKADE.path(), &stockade).unwrap();
    for path in [
        &place.root,
        &place.home,
        place.root.parent().unwrap(),
        &place.file("plain", "plain"),
        &place.file(".env", "S"),
    ] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let said = |words: &[&str]| {
        use std::os::unix::process::CommandExt;
        let mut command = place.command(words[0]);
        command.args(&words[1..]).uid(NOBODY).gid(NOBODY);
        let finished = finish(&mut command, b"");
        (finished.stdout(), finished.stderr())
    };
    assert_eq!(said(&["./program"]).0, FREE, "unconfined, so this proves nothing");
    let held = said(&[
        stockade.to_str().unwrap(),
        "run",
        "--profile",
        "workspace",
        "--",
        "./program",
    ]);
    assert_eq!(held.0, "0 opened, 0 made, 0 changed, 0 secret, 0\n", "{}", held.1);
    // A program that can be read works there.
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let held = said(&[
        stockade.to_str().unwrap(),
        "run",
        "--profile",
        "workspace",
        "--",
        "./program",
    ]);
    assert_eq!(held.0, "50 opened, 50 made, 150 changed, 0 secret, 0\n", "{}", held.1);
}

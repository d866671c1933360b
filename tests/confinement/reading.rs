//! What `minimal` and `readonly` may read, and by which detours they may not.

use crate::common::{Asleep, Probe, is_root, run};

/// A root with data, and with secrets inside and beside it.
fn data() -> Probe {
    Probe::new()
        .file("data/a.csv", "1,2\n")
        .file("data/deep/b.csv", "3,4\n")
        .file("notes.txt", "beside the data\n")
        .file("~/.ssh/id_ed25519", "key")
}

// promise: files.1
#[test]
fn minimal_reads_nothing_of_the_users() {
    let mut probe = data()
        .attempt("read('@HOME/.ssh/id_ed25519')")
        .attempt("read('notes.txt')")
        .attempt("read('data/a.csv')")
        .attempt("os.listdir('.')")
        .attempt("os.listdir('@HOME')")
        .attempt("os.listdir('/tmp')")
        .attempt("os.listdir('/etc')");
    for path in ["/etc/hosts", "/etc/machine-id", "/etc/profile"] {
        if std::path::Path::new(path).exists() {
            probe = probe.attempt(&format!("read('{path}')"));
        }
    }
    if is_root() {
        probe = probe.attempt("read('/etc/shadow')");
    }
    probe.works("read('/etc/passwd')").refused("minimal", "EACCES");
}

#[test]
fn what_run_times_read_at_their_start_is_open_in_every_profile() {
    let paths = [
        "/etc/hostname",
        "/etc/bash.bashrc",
        "/etc/perl/Net/libnet.cfg",
        "/etc/python3/debian_config",
        "/etc/java-17-openjdk/logging.properties",
        "/etc/maven/settings.xml",
        "/etc/fonts/fonts.conf",
        "/proc/uptime",
        "/proc/loadavg",
    ];
    let there = paths.iter().filter(|path| std::path::Path::new(path).exists());
    let probe = there.fold(Probe::new(), |probe, path| probe.works(&format!("read('{path}')")));
    probe.refused("minimal", "ok");
}

// promise: files.1
#[test]
fn readonly_reads_its_data_and_nothing_beside_it() {
    data()
        .works("read('data/a.csv')")
        .works("read('data/deep/b.csv')")
        .works("expect(os.listdir('data/deep') == ['b.csv'])")
        .attempt("read('notes.txt')")
        .attempt("read('@HOME/.ssh/id_ed25519')")
        .attempt("os.listdir('.')")
        .attempt("os.listdir('@HOME')")
        .attempt("os.listdir('/')")
        .refused("readonly", "EACCES");
}

// promise: secrets.1
#[test]
fn readonly_reads_no_secret_inside_its_data() {
    let secrets = [
        "data/.env",
        "data/.env.local",
        "data/deep/.env",
        "data/server.pem",
        "data/deep/private.key",
        "data/secrets/token",
        "data/deep/secrets/more/token",
        "data/credentials",
        "data/credentials-prod.json",
    ];
    let mut probe = data().works("read('data/a.csv')");
    for secret in secrets {
        probe = probe.file(secret, "secret").attempt(&format!("read('{secret}')"));
    }
    probe
        .file("data/credentials.py", "source code is no secret")
        .works("read('data/credentials.py')")
        .refused("readonly", "EACCES");
}

#[test]
fn readonly_reads_no_more_by_another_name() {
    data()
        .file("data/.env", "secret")
        .link("data/out", "../notes.txt")
        .link("data/absolute", "@ROOT/notes.txt")
        .link("data/alias", ".env")
        .link("data/up", "..")
        .link("data/inside", "deep/b.csv")
        .works("read('data/inside')")
        .attempt("read('data/out')")
        .attempt("read('data/absolute')")
        .attempt("read('data/alias')")
        .attempt("read('data/up/notes.txt')")
        .attempt("read('data/../notes.txt')")
        .attempt("read('data/deep/../.env')")
        .attempt("read('data//./.env')")
        .attempt("read('/proc/self/root@ROOT/notes.txt')")
        .attempt("read('/proc/self/root@ROOT/data/.env')")
        .attempt("read('/proc/self/cwd/notes.txt')")
        .attempt("read('/proc/self/cwd/data/.env')")
        .attempt("read('/proc/thread-self/cwd/data/.env')")
        .attempt("os.open('notes.txt', os.O_RDONLY, dir_fd=os.open('.', os.O_PATH))")
        .attempt("fd = os.open('notes.txt', os.O_PATH); read('/proc/self/fd/%d' % fd)")
        .attempt("os.chdir('data'); read('../notes.txt')")
        .refused("readonly", "EACCES");
}

#[test]
fn a_data_directory_that_is_a_link_out_of_the_root_is_refused() {
    let begun = crate::common::run().file("~/.ssh/id_ed25519", "key");
    let secrets = begun.place.path("~/.ssh/id_ed25519");
    std::os::unix::fs::symlink(secrets.parent().unwrap(), begun.place.path("data")).unwrap();
    begun
        .profile("readonly")
        .command(["cat", "data/id_ed25519"])
        .status(125)
        .stderr_has("leads out of the root")
        .ends();
}

#[test]
fn an_entrypoint_script_is_readable_alone() {
    let script = "def may(path):\n  try: open(path).close(); return 'open'\n  except OSError: return 'closed'\n\
                  print(may('@ROOT/tool/main.py'), may('@ROOT/tool/beside.py'))\n";
    let begun = run().file("tool/main.py", script).file("tool/beside.py", "x = 1\n");
    let unconfined = std::process::Command::new(crate::common::python())
        .arg(begun.place.path("tool/main.py"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&unconfined.stdout), "open open\n");
    let path = begun.place.path("tool/main.py");
    begun
        .command([crate::common::python().into(), path.into_os_string()])
        .stdout("open closed\n")
        .ends();
}

#[test]
fn files_served_in_place_of_the_machines_can_be_read_and_nothing_else() {
    let code = "import os\n\
        print('198.18.0.1' in open('/etc/resolv.conf').read())\n\
        held = os.open('/etc/resolv.conf', os.O_RDONLY)\n\
        def tried(what, *words):\n  \
          try: what(*words); print('done')\n  \
          except OSError as error: print('refused')\n\
        tried(os.write, held, b'x')\n\
        tried(os.open, '/proc/self/fd/%d' % held, os.O_WRONLY)\n\
        tried(os.fchmod, held, 0o755)\n\
        tried(os.execve, held, ['x'], {})\n";
    run()
        .flags(["--host", "api.example.com"])
        .python(code)
        .stdout("True\nrefused\nrefused\nrefused\nrefused\n")
        .ends();
}

#[test]
fn other_processes_cannot_be_looked_into() {
    let victim = Asleep::new();
    let entry = |name: &str| format!("read('/proc/{}/{name}')", victim.id());
    Probe::new()
        .attempt(&entry("environ"))
        .attempt(&entry("cmdline"))
        .attempt(&entry("status"))
        .attempt(&entry("maps"))
        .attempt(&format!("os.listdir('/proc/{}/fd')", victim.id()))
        .attempt(&format!("os.listdir('/proc/{}/task')", victim.id()))
        .answers(
            &format!("expect('{}' in os.listdir('/proc'))", victim.id()),
            "ok",
            "EBADMSG",
        )
        .attempt("read('/proc/1/status')")
        .refused("minimal", "EACCES");
}

#[test]
fn the_command_reads_its_own_proc_entries() {
    run()
        .python(
            "import os\n\
             for name in 'status', 'maps', 'environ', 'cmdline': open('/proc/self/' + name).read()\n\
             os.listdir('/proc/self/fd'); os.listdir('/proc/self/task')\n\
             try: open('/proc/%d/cmdline' % os.getppid()); print('the warden can be read')\n\
             except PermissionError: pass",
        )
        .ends();
}

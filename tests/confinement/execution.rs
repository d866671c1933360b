//! What may be executed: the base, and nothing that a run could have written itself.

use crate::common::{Probe, is_root, run};

/// Copies `/bin/true` to a path, executable from its first moment (a run may not change modes).
const COPY: &str = "def copy(to):\n  \
    fd = os.open(to, os.O_WRONLY | os.O_CREAT, 0o755)\n  \
    os.write(fd, open(os.path.realpath('/bin/true'), 'rb').read())\n  \
    os.close(fd)\n";

fn after_copy(code: &str) -> String {
    // The first line names the attempt.
    format!("# {code}\n{COPY}{code}")
}

#[test]
fn a_program_in_the_scratch_directory_cannot_be_executed() {
    Probe::new()
        .works("subprocess.check_call(['/bin/true'])")
        .attempt(&after_copy(
            "p = os.environ.get('TMPDIR', '@HOME') + '/program'; copy(p); os.execv(p, [p])",
        ))
        .attempt(&after_copy(
            "p = os.environ.get('TMPDIR', '@HOME') + '/other'; copy(p); os.execve(os.open(p, os.O_RDONLY), [p], {})",
        ))
        .refused("readonly", "EACCES");
}

// promise: files.6
#[test]
fn a_program_in_tmp_or_in_the_data_cannot_be_executed() {
    let planted = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    let program = planted.path().join("program");
    std::fs::copy("/bin/true", &program).unwrap();
    Probe::new()
        .program("data/tool", "#!/bin/sh\nexit 0\n")
        .attempt(&format!("subprocess.check_call(['{}'])", program.display()))
        .attempt("subprocess.check_call(['data/tool'])")
        .refused("readonly", "EACCES");
}

// promise: secrets.12
#[test]
fn a_program_in_a_secret_directory_cannot_be_executed() {
    for profile in ["workspace", "mcp-standard", "trusted"] {
        Probe::new()
            .program("tool", "#!/bin/sh\nexit 0\n")
            .program("secrets/tool", "#!/bin/sh\nexit 0\n")
            .program("home/.ssh/tool", "#!/bin/sh\nexit 0\n")
            .works("subprocess.check_call(['./tool'])")
            .attempt("subprocess.check_call(['secrets/tool'])")
            .attempt("os.execv('secrets/../secrets/tool', ['x'])")
            .attempt("os.symlink('secrets/tool', 'link'); os.execv('link', ['x'])")
            .attempt("f = os.open('secrets/tool', os.O_PATH); os.set_inheritable(f, True); os.execve(f, ['x'], {})")
            .attempt("os.chdir('home/.ssh'); os.execv('./tool', ['x'])")
            .refused(profile, "EACCES");
    }
}

#[test]
fn a_file_without_a_name_cannot_be_executed() {
    let run_it = "os.write(fd, open(os.path.realpath('/bin/true'), 'rb').read()); \
                  os.execve('/proc/self/fd/%d' % fd, ['x'], {})";
    let probe = Probe::new()
        .answers(&format!("fd = os.memfd_create('plain'); {run_it}"), "ok", "EACCES")
        .answers(
            &format!("fd = os.memfd_create('closed', os.MFD_CLOEXEC); {run_it}"),
            "ok",
            "EACCES",
        )
        // MFD_EXEC asks for the execute permission aloud.
        .answers_if_possible(&format!("fd = os.memfd_create('asked', 0x10); {run_it}"), "ok", "EPERM")
        // MFD_NOEXEC_SEAL: may be made, is never executable.
        .answers_if_possible("os.memfd_create('sealed', 8)", "ok", "ok")
        .answers(
            &format!("fd = os.memfd_create('sealed', 8); {run_it}"),
            "EACCES|EINVAL",
            "EACCES|EINVAL|EPERM",
        );
    probe.refused("readonly", "EPERM");
}

// promise: privileges.1
#[test]
fn set_user_id_programs_gain_nothing() {
    if is_root() {
        crate::common::skipped("root has nothing to gain");
        return;
    }
    let Some(program) = ["/usr/bin/su", "/bin/su", "/usr/bin/passwd"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
    else {
        crate::common::skipped("there is no set-user-ID program here");
        return;
    };
    // The program starts, but as the same user: no_new_privs.
    let code = format!(
        "import subprocess, os, time\n\
         p = subprocess.Popen(['{program}', '--help'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n\
         p.wait()\n\
         print([l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')])"
    );
    run().python(&code).stdout("['1']\n").ends();
}

#[test]
fn filesystem_executes_programs_of_the_root() {
    run()
        .profile("filesystem")
        .program("tools/hello", "#!/bin/sh\necho hello\n")
        .command(["./tools/hello"])
        .stdout("hello\n")
        .ends();
}

/// Looking into a FIFO for its interpreter would wait for a writer.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let script = "mkfifo f && chmod 755 f; ./f 2>/dev/null; echo $?; /dev/ptmx 2>/dev/null; echo $?";
    run()
        .profile("workspace")
        .command(["/bin/sh", "-c", script])
        .stdout("126\n126\n")
        .ends();
}

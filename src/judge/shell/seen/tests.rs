use super::{could_name, seen};

fn sees(text: &str, command: &[&str]) -> bool {
    seen(text).iter().any(|words| {
        words.len() >= command.len()
            && could_name(&words[0], command[0])
            && words.iter().zip(command).skip(1).all(|(a, b)| a == b)
    })
}

#[test]
fn a_command_is_seen_wherever_it_hides() {
    for text in [
        "rm x",
        "a; rm x",
        "a\nrm x",
        "a&rm x",
        "a|rm x",
        "a||rm x",
        "(rm x)",
        "{ rm x; }",
        "$(rm x)",
        "`rm x`",
        "a \"$(rm x)\"",
        "a \"`rm x`\"",
        "a <(rm x)",
        "a >(rm x)",
        "a $(b $(rm x))",
        "a `b \\`rm x\\``",
        "if a; then rm x; fi",
        "while rm x; do a; done",
        "for i in 1; do rm x; done",
        "case a in b) rm x;; esac",
        "f() { rm x; }",
        "function f { rm x; }",
        "! rm x",
        "time rm x",
        "A=b rm x",
        "A=b B+=c rm x",
        ">y rm x",
        "2>y rm x",
        "<y rm x",
        "&>y rm x",
        "r'm' x",
        "\"rm\" x",
        "r\\m x",
        "r\"\"m x",
        "$'\\x72m' x",
        "$'\\162\\155' x",
        "r$@m x",
        "r${u}m x",
        "rm${IFS}x",
        "{rm,x}",
        "/bin/rm x",
        "../rm x",
        "/bin/r? x",
        "/bin/r* x",
        "/bin/[r]m x",
        "a=rm; $a x",
        "a=r b=m; $a$b x",
        "c='rm x'; $c",
        "${u:-rm} x",
        "${u:-rm x}",
        "$(echo rm) x",
        "`printf rm` x",
        "env rm x",
        "env -i A=b rm x",
        "env -S 'rm x'",
        "timeout 5 rm x",
        "timeout -k 1 5 rm x",
        "nice -n 5 rm x",
        "nohup rm x",
        "sudo -u a rm x",
        "doas rm x",
        "xargs rm x",
        "a | xargs -n1 rm x",
        "exec rm x",
        "command rm x",
        "builtin rm x",
        "sh -c 'rm x'",
        "bash -lc \"rm x\"",
        "eval rm x",
        "eval 'rm x'",
        "eval 'r' 'm x'; rm x",
        "sudo sh -c 'env rm x'",
        "sh -c 'sh -c \"rm x\"'",
        "find . -exec rm x ;",
        "find . -execdir rm x \\;",
        "fd -x rm x",
        "git -c alias.a='!rm x' a",
        "git -c core.pager='rm x' log",
        "git bisect run rm x",
        "git submodule foreach 'rm x'",
        "git rebase -x 'rm x'",
        "echo 'rm x' | sh",
        "echo rm x | sh",
        "printf '%s\\n' 'rm x' | bash",
        "sh <<< 'rm x'",
        "sh <<E\nrm x\nE",
        "cat <<'E' | sh\nrm x\nE",
        "cat <<E\n$(rm x)\nE",
        "a <<E && rm x\nb\nE",
        "a <<E\nb\nE\nrm x",
        "cat <<-E | sh\n\trm x\n\tE",
        "trap 'rm x' EXIT",
        "alias a='rm x'",
        "PAGER='rm x' git log",
        "GIT_SSH_COMMAND='rm x' git fetch",
        "rg --pre='rm x' y",
        "tar -I 'rm x' -xf y",
        "tar --checkpoint-action=exec='rm x' y",
        "ssh a rm x",
        "ssh -oProxyCommand='rm x' y",
        "watch rm x",
        "parallel rm x",
        "python3 -c \"import os; os.system('rm x')\"",
        "python3 -c 'import subprocess; subprocess.run([\"rm\", \"x\"])'",
        "perl -e 'system(\"rm x\")'",
        "awk 'BEGIN{system(\"rm x\")}'",
        "sed '1e rm x' y",
        "vim -c ':!rm x' y",
        "busybox rm x",
        "script -c 'rm x' y",
        "docker exec a rm x",
        "uv run rm x",
        "npx rm x",
        "su a -c 'rm x'",
        "a # b\nrm x",
        "a 'b\nc'; rm x",
        "a \\\n; rm x",
        "r\\\nm x",
        "for c in rm; do $c x; done; rm x",
        "flock /x rm x",
        "setsid rm x",
        "coproc rm x",
        "a 'unterminated; b'; rm x",
        "export A='rm x'",
        "[[ -n $(rm x) ]]",
        "(( $(rm x) ))",
        "a $((1 + $(rm x)))",
        "a ${b:-$(rm x)}",
        "a \"${b:-`rm x`}\"",
        "stdbuf -o0 rm x",
        "sh -c \"$(echo rm x)\"",
        "a \"b $(c \"d\") $(rm x)\"",
    ] {
        assert!(sees(text, &["rm", "x"]), "{text}: {:?}", seen(text));
    }
}

#[test]
fn a_quoted_number_before_a_redirection_is_a_word() {
    assert_eq!(seen("ls 1\\2> x"), [["ls", "12"]]);
    assert_eq!(seen("ls '1'> x"), [["ls", "1"]]);
    assert_eq!(seen("ls 12> x"), [["ls"]]);
}

#[test]
fn nothing_is_seen_in_plain_text() {
    for text in [
        "echo 'rm x'",
        "git commit -m 'do not rm x'",
        "grep -rn 'rm x' src",
        "echo a rm x",
        "ls # rm x",
        "cat > f",
        "cat <<E\nrm x\nE",
    ] {
        assert!(!sees(text, &["rm"]), "{text}: {:?}", seen(text));
    }
}

#[test]
fn what_nests_too_deep_is_seen_as_words() {
    let deep = format!("{}rm x{}", "$(".repeat(500), ")".repeat(500));
    assert!(sees(&deep, &["rm", "x"]));
    let long = format!("{} rm x", "a;".repeat(40_000));
    assert!(sees(&long, &["rm", "x"]));
}

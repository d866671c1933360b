//! Shells, scripts and small tools.

use super::support::{Pair, installed};
use crate::common::run;

#[test]
fn bash_pipelines_run_under_minimal() {
    if installed(&["bash", "awk"]) {
        let script = "seq 1 100 | sort -n | awk '{ sum += $1 } END { print sum }'; diff <(echo a) <(echo b)
            cat <<<here; cat <<END\nthere\nEND\nmapfile -t lines < <(seq 5); echo ${#lines[@]}
            { sleep 0.05; echo behind; } & wait; set -o pipefail; false | true; exit 7";
        let ended = Pair::new().same(&["minimal", "readonly"], &["bash", "-c", script]);
        assert_eq!(ended.code, Some(7));
    }
}

/// Zsh writes each into a file whose name begins with `TMPPREFIX`.
#[test]
fn zsh_has_here_documents_wherever_files_for_a_while_have_a_place() {
    if installed(&["zsh"]) {
        let script = "cat <<END\nhere\nEND\ncat <<<there; cat =(echo file)";
        let profiles = ["readonly", "network-api", "filesystem", "workspace", "mcp-standard"];
        for profile in profiles {
            let ended = Pair::new().succeeds(&[profile], &["zsh", "-fc", script]);
            assert_eq!(ended.stdout, "here\nthere\nfile\n", "{profile}");
        }
    }
}

#[test]
fn bash_pipelines_read_the_project_and_write_to_tmp_under_filesystem() {
    if installed(&["bash"]) {
        let pair = Pair::new();
        pair.file("words", "b\na\nc\na\n").file("sub/more", "d\n");
        let script = "t=$(mktemp); sort words | uniq -c; cat words sub/more | tee $t | wc -l; rm $t; find . | sort
            work=$(mktemp -d); cp words \"$work/x\"; mv \"$work/x\" \"$work/y\"; ls \"$work\"; tar c sub | tar t
            grep -r a . | sort; printf '%s\\n' *; rm -r \"$work\"; trap 'echo bye' EXIT; kill -s USR1 $$";
        pair.same(&["filesystem", "workspace", "trusted"], &["bash", "-c", script]);
    }
}

#[test]
fn files_move_between_directories_of_the_project_under_workspace() {
    let pair = Pair::new();
    pair.file("a/one", "1\n").file("b/two", "2\n").file("move.py", MOVE);
    if installed(&["python3"]) {
        let ended = pair.succeeds(&["workspace"], &["python3", "move.py"]);
        assert_eq!(ended.stdout, "['two', 'uno'] ['dos']\n");
    }
}

const MOVE: &str = "import os
os.rename('a/one', 'b/uno')
os.link('b/two', 'a/dos')
os.mkdir('c'); os.rename('c', 'a/c'); os.rmdir('a/c')
print(sorted(os.listdir('b')), os.listdir('a'))
";

#[test]
fn a_script_found_through_env_runs_under_minimal() {
    if installed(&["python3", "bash"]) {
        let pair = Pair::new();
        pair.file("python", "#!/usr/bin/env python3\nprint('by env')\n");
        pair.file(
            "shell",
            "#!/usr/bin/env -S bash -e\necho by env -S $1\nfalse\necho never\n",
        );
        pair.succeeds(&["minimal", "filesystem"], &["./python"]);
        assert_eq!(pair.same(&["minimal", "filesystem"], &["./shell", "x"]).code, Some(1));
    }
}

#[test]
fn a_shim_that_is_a_script_runs_under_filesystem() {
    if installed(&["python3"]) {
        let pair = Pair::new();
        pair.file(
            "tool",
            "#!/usr/bin/env python3\nimport sys\nprint('tool', sys.argv[1:])\n",
        );
        pair.file("shim", "#!/bin/sh\nexec \"$(dirname \"$0\")/tool\" \"$@\"\n");
        pair.succeeds(&["filesystem", "workspace"], &["./shim", "a b", "c"]);
    }
}

#[test]
fn perl_runs_under_minimal() {
    if installed(&["perl"]) {
        let script = "use POSIX; use List::Util qw(sum); print strftime('%Y', gmtime 0), sum(1..10), `echo child`;
            open my $f, '<', $0 or print 'no file'; exit 4";
        assert_eq!(
            Pair::new()
                .same(&["minimal", "filesystem"], &["perl", "-e", script])
                .code,
            Some(4)
        );
    }
}

#[test]
fn sqlite_computes_under_minimal_and_keeps_a_database_under_workspace() {
    if installed(&["sqlite3"]) {
        let pair = Pair::new();
        pair.succeeds(&["minimal"], &["sqlite3", ":memory:", "select 6 * 7"]);
        let statements = "create table t(a); insert into t values (1), (2); pragma journal_mode = wal;
            insert into t values (3); select sum(a) from t; pragma journal_mode = delete; vacuum; select count(*) from t;
            pragma integrity_check;";
        pair.succeeds(&["workspace"], &["sqlite3", "data.db", statements]);
        pair.succeeds(&["filesystem"], &["sqlite3", "-readonly", "data.db", "select * from t"]);
    }
}

/// procps and busybox die where `/proc` can't be listed.
#[test]
fn the_tools_that_list_processes_show_those_of_the_run() {
    if !installed(&["ps", "top", "pgrep", "busybox"]) {
        return;
    }
    let script = "sleep 60 & ps -A -o comm= | sort -u; pgrep -x sleep | grep -c .; top -b -n1 | grep -c ' sleep$'
        busybox ps -o comm | grep -c '^sleep'; ps -o stat= -p $! | cut -c1; jobs -r | grep -c sleep; kill %1";
    for profile in ["minimal", "workspace", "trusted"] {
        let begun = run().profile(profile).command(["bash", "-c", script]);
        begun.stdout("bash\nps\nsleep\nsort\n1\n1\n1\nS\n1\n").ends();
    }
}

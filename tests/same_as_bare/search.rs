//! Programs that look through trees, and databases.

use super::twins::{Twins, installed};
use crate::common::{is_root, skipped};

/// A tree of a few hundred files, with links, times and modes.
fn forest() -> Twins {
    Twins::new()
        .prepared(
            "for a in {1..8}; do for b in {1..8}; do mkdir -p tree/$a/$b; for c in {1..5}; do
            echo \"file $a $b $c needle$((a * b * c % 7))\" >tree/$a/$b/$c.txt; done; done; done
            ln -s ../1 tree/2/loop; ln -s ../../.. tree/3/3/up; printf 'binary\\0needle3' >tree/bin; chmod 444 tree/8/8/1.txt
            touch -d 2001-01-01 tree/4/4/4.txt; mkdir tree/empty; echo '*.txt' >tree/5/.gitignore",
        )
        .file("tree/hidden/.dot", "needle3\n")
}

#[test]
fn find_walks_filters_executes_and_deletes() {
    if installed(&["find", "xargs"]) {
        let twins = forest();
        twins.same("find tree | LC_ALL=C sort; find tree -type l -printf '%p %l\\n' | sort; find tree -size +0 -newermt 2002-01-01 | wc -l");
        twins.same("find tree -name '4.txt' ! -newermt 2002-01-01 -exec cat {} \\;; find tree -empty; find -L tree/2 -maxdepth 2 2>/dev/null | sort");
        twins.same("find tree -name '3.txt' -print0 | sort -z | xargs -0 -n 10 cat | sort | uniq -c; find tree -perm 444; find tree -readable -name 1.txt | sort");
        twins.same("find tree -name '5.txt' -delete; find tree/7 -depth -exec rm -r {} + ; find tree -samefile tree/bin; du -a --apparent-size tree | wc -l");
    }
}

#[test]
fn grep_and_ripgrep_find_the_same() {
    let twins = forest();
    twins.same(
        "grep -rn needle3 tree 2>/dev/null | sort; grep -rlI needle6 tree 2>/dev/null | sort; grep -c . tree/1/1/*.txt",
    );
    twins.same(
        "grep -rL needle tree 2>/dev/null | sort; grep -R --include='2.txt' -h file tree/2 2>/dev/null | sort | head",
    );
    if installed(&["rg"]) {
        twins.same("rg --sort path -n needle3 tree 2>/dev/null || true; rg -uuu --count needle tree 2>/dev/null | sort || true");
        twins.same("rg --files tree | sort; rg -L -l needle6 tree/2 2>/dev/null | sort || true; rg -j 4 -c file tree 2>/dev/null | sort || true");
    }
}

#[test]
fn sqlite_keeps_a_database_with_a_rollback_journal() {
    if installed(&["sqlite3"]) {
        // A journal's header has a random nonce.
        let twins = Twins::new().loosely(&["*-journal"]);
        twins.same("sqlite3 data.db 'create table t (n integer primary key, word text); insert into t (word) values (1), (2);'");
        twins.same("sqlite3 data.db 'pragma journal_mode = persist; begin; update t set word = word || 3; commit; select * from t'");
        twins.same(
            "sqlite3 data.db 'begin; delete from t; rollback; select count(*) from t; vacuum; pragma integrity_check'",
        );
        twins.same("sqlite3 data.db '.backup copy.db' '.dump'; sqlite3 -readonly copy.db 'select sum(n) from t'");
        twins.same("awaits() { for n in {1..400}; do test ! -e $1 || break; sleep 0.05; done; rm $1; }
            (echo 'begin exclusive;'; echo '.shell touch held'; awaits tried; echo 'commit;') | sqlite3 data.db & awaits held
            sqlite3 data.db 'insert into t (word) values (9)' 2>&1 || echo locked; touch tried; wait
            sqlite3 data.db 'select count(*) from t'");
    }
}

#[test]
fn sqlite_keeps_a_database_with_a_write_ahead_log() {
    if installed(&["sqlite3", "python3"]) {
        // The log's header has a random salt.
        let twins = Twins::new().loosely(&["*-wal", "*-shm"]);
        twins.same(
            "sqlite3 data.db 'pragma journal_mode = wal; create table t (n integer); insert into t values (1), (2);'",
        );
        let script = r#"python3 - <<'END'
import multiprocessing, os, sqlite3
def write(number):
    connection = sqlite3.connect("data.db", timeout=60)
    for round in range(10):
        with connection:
            connection.execute("insert into t values (?)", (number,))
    connection.close()
reader = sqlite3.connect("data.db")
print(reader.execute("select count(*) from t").fetchone(), sorted(os.listdir(".")))
writers = [multiprocessing.get_context("fork").Process(target=write, args=(number,)) for number in (10, 20, 30)]
[writer.start() for writer in writers]
[writer.join() for writer in writers]
print([writer.exitcode for writer in writers], reader.execute("select count(*), sum(n) from t").fetchone())
reader.execute("pragma wal_checkpoint(truncate)")
END
sqlite3 data.db 'select n, count(*) from t group by n'"#;
        // The order of the rows is the order of the writers.
        twins.loosely(&["data.db"]).same(script);
    }
}

#[test]
fn postgresql_makes_a_database_and_serves_it() {
    if is_root() {
        return skipped("PostgreSQL doesn't run as root");
    }
    if installed(&["psql"]) {
        let twins = Twins::new().ignoring(&["data"]).any_stderr();
        twins.same(
            "PATH=$(echo /usr/lib/postgresql/*/bin | tr ' ' :):$PATH
            initdb -D data -A trust -U me >data.log 2>&1; mv data.log data
            postgres -D data -k \"$PWD\" -c listen_addresses= >data/log 2>&1 & ask() { psql -h \"$PWD\" -U me -Atc \"$1\" postgres; }
            for _ in {1..150}; do ! ask 'select 1' >/dev/null 2>&1 || break; sleep 0.2; done
            ask 'create table t (n int); insert into t select generate_series(1, 1000); select count(*), sum(n) from t'
            kill -INT $!; wait $!",
        );
    }
}

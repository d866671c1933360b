//! Servers, browsers and interpreters that are large to install: each is tried where it is there.

use super::twins::{Twins, find};
use crate::common::{is_root, skipped};

/// Whether all of them are there; `setup-programs.sh` doesn't install them.
fn there(programs: &[&str]) -> bool {
    match programs.iter().find(|program| find(program).is_none()) {
        Some(program) => {
            skipped(&format!("no {program} runs this test"));
            false
        }
        None => true,
    }
}

#[test]
fn redis_serves_by_a_socket() {
    if there(&["redis-server", "redis-cli"]) {
        Twins::new().ignoring(&["s"]).same(
            "redis-server --port 0 --unixsocket \"$PWD/s\" --save '' >/dev/null & ask() { redis-cli -s \"$PWD/s\" \"$@\"; }
            for _ in {1..50}; do ! ask ping >/dev/null 2>&1 || break; sleep 0.1; done
            ask set a 1; ask incr a; ask shutdown nosave; wait",
        );
    }
}

#[test]
fn mariadb_makes_a_database_and_serves_it() {
    if is_root() {
        return skipped("MariaDB wants a user of its own for root");
    }
    if there(&["mariadb-install-db", "mariadb", "/usr/sbin/mariadbd"]) {
        Twins::new().ignoring(&["data", "s"]).any_stderr().same(
            "mkdir data; mariadb-install-db --datadir=\"$PWD/data\" --auth-root-authentication-method=normal >/dev/null 2>&1
            /usr/sbin/mariadbd --datadir=\"$PWD/data\" --socket=\"$PWD/s\" --skip-networking --pid-file=\"$PWD/data/p\" >/dev/null 2>&1 &
            ask() { mariadb -S \"$PWD/s\" -u root -e \"$1\"; }
            for _ in {1..150}; do ! ask 'select 1' >/dev/null 2>&1 || break; sleep 0.2; done
            ask 'create database d; use d; create table t (n int); insert into t values (1), (2); select sum(n) from t'
            kill $!; wait $!",
        );
    }
}

#[test]
fn php_writes_and_composer_starts_a_package() {
    if there(&["php"]) {
        Twins::new()
            .file(
                "a.php",
                "<?php file_put_contents('o', json_encode([1])); echo strlen(file_get_contents('o')), `echo hi`;",
            )
            .same("php a.php; php -r 'echo session_save_path() === false;'");
    }
    if there(&["php", "composer"]) {
        let twins = Twins::new().loosely(&["vendor/**"]).any_stderr();
        twins.same("composer -n -q init --name a/b; composer -n -q install; ls");
    }
}

#[test]
fn r_computes_plots_and_writes() {
    if there(&["Rscript"]) {
        let script = "x <- c(1, 2); print(mean(x)); write.csv(x, 'x.csv'); pdf('x.pdf'); plot(x); invisible(dev.off())";
        Twins::new()
            .loosely(&["x.pdf"])
            .same(&format!("Rscript -e \"{script}\""));
    }
}

#[test]
fn bundler_takes_a_gemfile() {
    if there(&["bundle"]) {
        let twins = Twins::new().file("Gemfile", "source 'https://registry.example.com'\n");
        twins.any_stderr().same("bundle install --quiet; bundle list; ls");
    }
}

#[test]
fn browsers_without_a_screen_show_a_page() {
    if is_root() {
        return skipped("browsers aren't started as root");
    }
    let page = "<title>x</title><h1>hi</h1><script>document.title = document.querySelector('h1').textContent</script>";
    if there(&["chromium"]) {
        let options = "--headless --no-sandbox --disable-gpu";
        let twins = Twins::new().file("a.html", page).ignoring(&["s.png"]).any_stderr();
        twins.same(&format!(
            "chromium {options} --dump-dom \"file://$PWD/a.html\"; chromium {options} --screenshot=s.png \"file://$PWD/a.html\"
            test -s s.png && echo shot"
        ));
    }
    if there(&["firefox-esr"]) {
        let twins = Twins::new()
            .file("a.html", page)
            .ignoring(&["s.png", "profile"])
            .any_stderr();
        twins.same(
            "mkdir profile; firefox-esr --headless --profile \"$PWD/profile\" --screenshot \"$PWD/s.png\" \"file://$PWD/a.html\"
            test -s s.png && echo shot",
        );
    }
}

//! Interpreters and their one-file programs.

use super::twins::{Twins, installed};

#[test]
fn bash_scripts_redirect_substitute_and_trap() {
    let library = "greet() { echo \"hello $1\"; }\n";
    let script = r#"#!/bin/bash
set -eu
. "$(dirname "$0")/library.sh"
greet world >greeting; greet again >>greeting
exec 3>descriptor; echo three >&3; exec 3>&-
while read -r line; do echo "read $line"; done < <(cat greeting)
cat <<END >document
a here document of $((6 * 7))
END
set -C; echo x >greeting 2>/dev/null || echo "kept"; set +C; echo y >|greeting
diff <(echo 1) <(echo 2) || true
trap 'rm -f temporary; echo gone' EXIT
touch temporary; mkdir -p d/{a,b}; cd d; pwd | sed "s,$OLDPWD,OLD,"; cd - >/dev/null
shopt -s globstar nullglob; echo **; coproc cat; echo to >&"${COPROC[1]}"; read -r answer <&"${COPROC[0]}"; echo "$answer"
(sleep 0.1; exit 3) & wait $! || echo "status $?"
[ -r library.sh ] && [ -w . ] && [ -x "$0" ] && [ ! -e absent ] && echo tested
./other one two; kill -0 $$; ulimit -c; type cat
"#;
    Twins::new()
        .file("library.sh", library)
        .file("script", script)
        .file("other", "#!/bin/sh\nprintf '%s,' \"$@\"; echo \"$0\"\n")
        .same_command(&["./script"]);
}

#[test]
fn perl_opens_renames_marks_and_forks() {
    let script = r#"
use strict; use warnings; use File::Temp; use File::Path qw(make_path remove_tree); use File::Copy; use Fcntl ":flock";
open(my $file, ">", "file") or die $!; flock($file, LOCK_EX) or die $!; print $file "line\n"; close $file;
utime(1e9, 1e9, "file") or die $!; chmod(0640, "file") or die $!; make_path("a/b/c"); copy("file", "a/copy") or die $!;
move("a/copy", "a/b/moved") or die $!; symlink("b/moved", "a/link") or die $!; link("file", "hard") or die $!;
my $temporary = File::Temp->new(DIR => "."); print $temporary "x"; print -e $temporary->filename ? "there\n" : "absent\n";
my $child = fork; if (!$child) { open(my $out, ">>", "file"); print $out "child\n"; exit 4 } waitpid($child, 0); print $? >> 8, "\n";
opendir(my $directory, "."); print join(" ", sort grep { !/^\./ && !/^.{10}$/ } readdir $directory), "\n"; print `cat file`;
rename("hard", "soft") or die $!; truncate("soft", 4) or die $!; remove_tree("a/b/c"); print -s "soft", " ", -l "a/link" ? 1 : 0, "\n";
"#;
    if installed(&["perl"]) {
        Twins::new().file("main.pl", script).same_command(&["perl", "main.pl"]);
        Twins::new()
            .file("text", "a b\nc d\n")
            .same("perl -i.orig -pe 's/b/B/' text; perl -ne 'print if /c/' text");
    }
}

#[test]
fn ruby_opens_renames_marks_and_spawns() {
    let script = r##"
require "fileutils"; require "tempfile"; require "tmpdir"; require "json"; require "open3"
File.write("file", "line\n"); File.open("file", "a", 0600) { |file| file.flock(File::LOCK_EX); file << "more\n" }
FileUtils.mkdir_p("a/b"); FileUtils.cp("file", "a/b", preserve: true); FileUtils.ln_s("b/file", "a/link")
File.utime(Time.at(1000000000), Time.at(1000000000), "file"); File.chmod(0444, "a/b/file"); FileUtils.mv("a/b", "a/c")
Dir.mktmpdir { |directory| File.write("#{directory}/x", "1"); puts Dir.children(directory).inspect }
Tempfile.create("t", ".") { |file| file << "x"; file.flush; puts File.size(file.path) }
puts Dir.glob("**/*").sort.inspect, JSON.generate({ "a" => [1, nil] }), File.readlink("a/link")
puts Open3.capture2("tr a-z A-Z", stdin_data: "spawned")[0]; FileUtils.rm_r("a"); puts File.writable?("."), File.exist?("a")
pid = fork { exit 7 }; Process.wait(pid); puts $?.exitstatus; 4.times.map { |n| Thread.new { File.write("t#{n}", n.to_s) } }.each(&:join)
"##;
    if installed(&["ruby"]) {
        Twins::new().file("main.rb", script).same_command(&["ruby", "main.rb"]);
    }
}

#[test]
fn awk_reads_writes_and_pipes() {
    if installed(&["awk"]) {
        let twins = Twins::new().file("data", "1 a\n2 b\n3 a\n");
        twins.same("awk '{ sum[$2] += $1; print $1 >\"out-\" $2 } END { for (k in sum) print k, sum[k] | \"sort\" }' data; cat out-*");
        twins.same("awk 'BEGIN { while ((\"ls\" | getline name) > 0) print name; while ((getline line <\"data\") > 0) n++; print n }'");
    }
}

//! Programs of `awk` that only change text: they start nothing and open no other file.

/// No pipe, file or call by name, judged by the characters that these need, wherever they stand.
pub(super) fn is_safe(program: &str) -> bool {
    let calls = [
        "system",
        "getline",
        "close",
        "fflush",
        "ARGV",
        "ARGC",
        "PROCINFO",
        "extension",
        "load",
    ];
    let without_or = program.replace("||", "").replace(">=", "");
    !without_or.contains(['|', '>', '@', '<', '`']) && !calls.iter().any(|call| program.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awk_programs_that_only_print_are_safe() {
        for program in [
            "{print $1}",
            "NR==1",
            "/a/ || /b/ {n++} END{print n}",
            "$3 >= 5",
            "BEGIN{FS=\",\"} {printf \"%s\\n\", $2}",
        ] {
            assert!(is_safe(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"id\")}",
            "{print > \"x\"}",
            "{print | \"sh\"}",
            "\"id\" | getline",
            "BEGIN{getline < \"/etc/passwd\"}",
            "@load \"x\"",
            "{print >> $1}",
            "BEGIN{f=\"system\"; @f(\"id\")}",
            "{print |& \"x\"}",
            "a|||b",
            "{print >>= x}",
        ] {
            assert!(!is_safe(program), "{program}");
        }
    }
}

//! Shell scripts and the tools that they call.

use super::case::{Case, each_names_its_denial_first, in_thirds};

const fn case(profile: &'static str, access: &'static str, target: &'static str, script: &'static str) -> Case {
    Case {
        profile,
        access,
        target,
        script,
    }
}

const READING: &[Case] = &[
    case("minimal", "read", "@OUT/data.txt", "cat @OUT/data.txt"),
    case(
        "readonly",
        "read",
        "@OUT/data.txt",
        "cat @OUT/data.txt 2>/dev/null || { echo 'no input' >&2; exit 4; }",
    ),
    case("workspace", "read", "@OUT/data.txt", "cp @OUT/data.txt here.txt"),
    case("minimal", "read", "@OUT/data.txt", "read -r line <@OUT/data.txt"),
    case("workspace", "read", "@OUT/lib.sh", ". @OUT/lib.sh; test \"$value\" = 7"),
    case("filesystem", "read", "@OUT/script.sh", "bash @OUT/script.sh"),
    case("minimal", "read", "@OUT/dir", "ls @OUT/dir"),
    case(
        "workspace",
        "read",
        "@OUT/dir",
        "find @OUT/dir -name inner.txt | grep -q .",
    ),
    case(
        "workspace",
        "read",
        "@OUT/dir",
        "cd @OUT/dir && for name in *; do test -e \"$name\" || exit 1; done",
    ),
    case(
        "workspace",
        "read",
        "@OUT/data.txt",
        "cd @OUT && grep -q outside data.txt",
    ),
    case(
        "readonly",
        "read",
        "@OUT/data.txt",
        "value=$(head -n 1 @OUT/data.txt); test -n \"$value\"",
    ),
    case("workspace", "read", "@OUT/archive.tar", "tar -xf @OUT/archive.tar"),
    case(
        "minimal",
        "read",
        "@OUT/archive.tar.gz",
        "gzip -dc @OUT/archive.tar.gz | tar -t >/dev/null",
    ),
    case(
        "filesystem",
        "read",
        "@OUT/data.txt",
        "sha256sum mine.txt @OUT/data.txt",
    ),
    case(
        "workspace",
        "read",
        "@OUT/data.txt",
        "for f in /etc/none.conf ~/.none /etc/none.d/x @OUT/none @OUT/data.txt; do
        cat $f 2>/dev/null && exit 0; done; exit 1",
    ),
    case("workspace", "read", "@OUT/data.txt", "test -r @OUT/data.txt"),
    case(
        "minimal",
        "read|write",
        "@OUT/app.db",
        "test \"$(sqlite3 @OUT/app.db 'select n from t')\" = 7",
    ),
    case(
        "workspace",
        "read",
        "@OUT/config.ini",
        "git config --file @OUT/config.ini main.value",
    ),
];

const CHANGING: &[Case] = &[
    case("readonly", "create", "@OUT/new.txt", "echo x >@OUT/new.txt"),
    case("workspace", "write", "@OUT/data.txt", "echo x >>@OUT/data.txt"),
    case("workspace", "create", "@OUT/copy.txt", "cp mine.txt @OUT/copy.txt"),
    case("workspace", "create", "@OUT/moved.txt", "mv mine.txt @OUT/moved.txt"),
    case(
        "workspace --read @OUT",
        "create",
        "@OUT/sed*",
        "sed -i s/outside/inside/ @OUT/data.txt",
    ),
    case("workspace", "create", "@OUT/link", "ln -s data.txt @OUT/link"),
    case("workspace", "create", "@OUT/hard", "ln mine.txt @OUT/hard"),
    case("workspace", "create", "@OUT/new", "touch @OUT/new"),
    case("workspace", "write|metadata", "@OUT/data.txt", "touch @OUT/data.txt"),
    case("readonly", "create", "@OUT/made", "mkdir @OUT/made"),
    case("workspace", "create", "@OUT/made", "mkdir -p @OUT/made/deep/er"),
    case("workspace", "delete", "@OUT/data.txt", "rm -f @OUT/data.txt"),
    case("workspace", "delete", "@OUT/empty", "rmdir @OUT/empty"),
    case("minimal", "metadata", "@OUT/data.txt", "chmod 600 @OUT/data.txt"),
    case(
        "workspace",
        "metadata",
        "@OUT/data.txt",
        "touch -c -m -d 2001-01-01 @OUT/data.txt",
    ),
    case("workspace", "create", "@OUT/a.tar", "tar -cf @OUT/a.tar data"),
    case(
        "workspace",
        "create",
        "@OUT/data",
        "tar -C @OUT -cf here.tar data.txt 2>/dev/null; mkdir @OUT/data",
    ),
    case(
        "workspace --read @OUT",
        "create",
        "@OUT/empty/d*",
        "tar -C @OUT/empty -xf archive.tar",
    ),
    case("workspace", "create", "@OUT/fresh", "git init -q @OUT/fresh"),
    case("workspace", "create", "@OUT/x", "echo x | tee @OUT/x"),
    case("workspace", "create", "@OUT/x", "dd if=mine.txt of=@OUT/x status=none"),
    case("workspace", "create", "@OUT/x", "sort -o @OUT/x mine.txt"),
    case("workspace", "create", "@OUT/x", "awk '{ print >\"@OUT/x\" }' mine.txt"),
    case("workspace", "create", "@OUT/bin", "install -m 755 mine.txt @OUT/bin"),
    case("workspace", "create", "@OUT/tmp.*", "mktemp -p @OUT"),
    case("workspace", "create", "@OUT/pipe", "mkfifo @OUT/pipe"),
    case("filesystem", "write", "@OUT/data.txt", "truncate -s 3 @OUT/data.txt"),
    case(
        "workspace --read @OUT",
        "delete",
        "@OUT/dir/inner.txt",
        "find @OUT/dir -name inner.txt -delete; test ! -e @OUT/dir/inner.txt",
    ),
];

const OTHERS: &[Case] = &[
    case("minimal", "execute", "@OUT/tool", "@OUT/tool"),
    case("workspace", "execute", "@OUT/script.sh", "@OUT/script.sh"),
    case("filesystem", "execute", "@OUT/tool", "exec @OUT/tool"),
    case("workspace", "execute", "@OUT/tool", "PATH=@OUT:$PATH; tool"),
    case(
        "workspace",
        "execute",
        "@OUT/tool",
        "find data -name mine.txt -exec @OUT/tool {} +",
    ),
    case("readonly", "execute", "@OUT/tool", "env @OUT/tool || exit 9"),
];

in_thirds!(shell_scripts_that_read_outside_are_told_what_they_lack, |third| {
    each_names_its_denial_first(&["bash", "-c"], READING, third)
});

in_thirds!(
    shell_scripts_that_change_what_is_outside_are_told_what_they_lack,
    |third| { each_names_its_denial_first(&["bash", "-c"], CHANGING, third) }
);

in_thirds!(
    shell_scripts_that_start_what_is_outside_are_told_what_they_lack,
    |third| { each_names_its_denial_first(&["bash", "-c"], OTHERS, third) }
);

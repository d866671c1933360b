//! Options of C compilers that only compile and link: no plugin, no other tool in the place of the compiler's own, no
//! file of further options.

/// Whole options without a value.
const ALONE: [&str; 45] = [
    "-c",
    "-S",
    "-E",
    "-v",
    "-s",
    "-w",
    "-g",
    "-P",
    "-C",
    "-H",
    "-M",
    "-MM",
    "-MD",
    "-MMD",
    "-MP",
    "-MG",
    "-dM",
    "-pipe",
    "-shared",
    "-static",
    "-static-libgcc",
    "-static-libstdc++",
    "-pthread",
    "-pie",
    "-no-pie",
    "-rdynamic",
    "-ansi",
    "-pedantic",
    "-pedantic-errors",
    "-nostdlib",
    "-nostdinc",
    "-nodefaultlibs",
    "-gsplit-dwarf",
    "-m32",
    "-m64",
    "-fopenmp",
    "-flto",
    "-fexceptions",
    "-frtti",
    "-fcommon",
    "-fsyntax-only",
    "-fwrapv",
    "-ftrapv",
    "--version",
    "--help",
];

/// Options whose value is the next word.
const WITH_VALUE: [&str; 15] = [
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-MF",
    "-MT",
    "-MQ",
    "-framework",
];

/// What options begin with that have their value attached.
const BEGINNINGS: [&str; 43] = [
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-O",
    "-std=",
    "-W",
    "-ggdb",
    "-gdwarf",
    "-g0",
    "-g1",
    "-g2",
    "-g3",
    "-gz",
    "-march=",
    "-mtune=",
    "-mcpu=",
    "-mfpu=",
    "-mfloat-abi=",
    "-mavx",
    "-msse",
    "-mno-",
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fno-",
    "-fsanitize=",
    "-fstack-protector",
    "-fstack-clash-protection",
    "-fcf-protection",
    "-fomit-frame-pointer",
    "-fvisibility",
    "-fdiagnostics-color",
    "-ffunction-sections",
    "-fdata-sections",
    "-ffast-math",
    "-fstrict-",
    "-fsigned-char",
    "-funsigned-char",
    "-fmax-errors=",
    "-ffreestanding",
];

/// Whether all arguments are safe; why not.
pub(super) fn check(name: &str, arguments: &[String]) -> Result<(), String> {
    let unfit = |word: &str| Err(format!("`{name} {word}` isn't in the tables of safe options"));
    let mut rest = arguments;
    while let [word, after @ ..] = rest {
        rest = after;
        // A file of options, even where a value is expected.
        if word.starts_with('@') {
            return unfit(word);
        }
        if !word.starts_with('-') || word == "-" || ALONE.contains(&word.as_str()) {
            continue;
        }
        if WITH_VALUE.contains(&word.as_str()) {
            match after.first() {
                Some(value) if !value.starts_with(['@', '-']) => rest = &after[1..],
                _ => return unfit(word),
            }
            continue;
        }
        // `-Wl,`, `-Wa,` and `-Wp,` hand options on to other tools.
        let hands_on = word.starts_with("-W") && word.contains(',');
        if hands_on || !BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)) {
            return unfit(word);
        }
    }
    Ok(())
}

//! Device nodes: none are made, and those that lie about are not opened.

use crate::common::{Probe, is_root};

const PROFILES: [&str; 2] = ["workspace", "trusted"];

// promise: files.15
#[test]
fn a_device_outside_dev_is_not_opened() {
    // Outside, somebody has made nodes in the run's root.
    let mut probe = Probe::new().beside(
        "for name, kind, minor in ('memory', 0o20666, (1, 1)), ('null', 0o20666, (1, 3)), ('loop', 0o60666, (7, 0)):\n  \
           try: os.mknod('@ROOT/' + name, kind, os.makedev(*minor))\n  \
           except OSError: pass\n\
         try: os.mknod('@ROOT/disk', 0o60666, os.stat('@ROOT').st_dev)\n\
         except OSError: pass\n\
         ready()\n\
         time.sleep(60)\n",
    );
    for (name, flags) in [
        ("disk", "0"),
        ("disk", "os.O_RDWR"),
        ("null", "os.O_RDWR"),
        ("memory", "0"),
        ("loop", "0"),
    ] {
        probe = probe
            .attempt_if_possible(&format!("os.open('@ROOT/{name}', {flags})"))
            .attempt_if_possible(&format!(
                "p = os.open('{name}', os.O_PATH); os.open('/proc/self/fd/%d' % p, {flags})"
            ));
    }
    for profile in ["workspace", "filesystem", "mcp-standard", "trusted"] {
        probe.refused(profile, "EACCES|EPERM|ENXIO|ENODEV");
    }
}

#[test]
fn devices_are_not_made() {
    let mut probe = Probe::new();
    for (kind, major, minor) in [("0o20666", 1, 3), ("0o60666", 7, 0), ("0o20666", 1, 1)] {
        probe = probe
            .attempt_if_possible(&format!(
                "os.mknod('node-{kind}-{major}-{minor}', {kind}, os.makedev({major}, {minor}))"
            ))
            .attempt_if_possible(&format!(
                "call(133, '@ROOT/m-{kind}-{major}-{minor}', {kind}, {})",
                major << 8 | minor
            ))
            .attempt_if_possible(&format!(
                "call(259, os.open('.', os.O_PATH), 'a-{kind}-{major}-{minor}', {kind} | 1 << 32, {})",
                major << 8 | minor
            ));
    }
    if !is_root() {
        crate::common::skipped("only root makes devices unconfined");
    }
    for profile in PROFILES {
        probe.refused(profile, "EPERM|EACCES");
    }
}

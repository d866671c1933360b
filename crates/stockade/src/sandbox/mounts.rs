//! The other paths under which the mount table shows a place: bind mounts, volumes of containers, overlays.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::real_path::{is_of_disk, unescaped};

/// The most other paths of one place.
const MAX_SHOWN: usize = 256;

/// File systems by which the kernel shows its own state.
const OF_THE_KERNEL: [&[u8]; 8] = [
    b"proc",
    b"sysfs",
    b"cgroup",
    b"cgroup2",
    b"debugfs",
    b"tracefs",
    b"securityfs",
    b"configfs",
];

/// The most machines whose layers are followed too.
const FEW_MACHINES: usize = 8;

/// The mount table, as far as it shows something twice.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    /// All mounts, in mount order.
    all: Vec<Mount>,
    /// A directory of an overlay, and the overlay's mount point.
    layers: Vec<(PathBuf, PathBuf)>,
    /// Layers with paths relative to an unknown directory, and the overlay's mount point.
    unknown: Vec<(PathBuf, PathBuf)>,
    /// The mount points of whole other machines: a container's host, a disk image.
    machines: Vec<PathBuf>,
}

#[derive(Debug)]
struct Mount {
    device: String,
    /// The part of the file system that is mounted.
    root: PathBuf,
    place: PathBuf,
    /// Whether it is on a local disk or in memory: file servers may never answer.
    is_local: bool,
    /// Whether the kernel shows its own state there.
    is_kernels: bool,
}

/// Another path of a place, or of part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shown {
    /// The other path.
    pub place: PathBuf,
    /// The part of the place that is there: empty for all of it.
    pub part: PathBuf,
}

impl Mounts {
    /// Reads this process's mount table (proc_pid_mountinfo(5)).
    pub fn here() -> Mounts {
        let text = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let mut mounts = Mounts::of(&text);
        // An image's layers usually lie outside the visible tree.
        mounts.layers.retain(|(layer, _)| layer.is_dir());
        for (layer, _) in &mut mounts.layers {
            if let Ok(real) = layer.canonicalize() {
                *layer = real;
            }
        }
        mounts.name_layers_anew();
        let local = mounts.all.iter().filter(|mount| mount.is_local);
        let is_machine = |place: &&PathBuf| **place != Path::new("/") && place.join("etc/passwd").is_file();
        let machines: Vec<PathBuf> = local.map(|mount| &mount.place).filter(is_machine).cloned().collect();
        // Their other paths: bind mounts, and overlay layers, of which a container host has thousands.
        let has_few = machines.len() <= FEW_MACHINES;
        let others = machines.iter().flat_map(|machine| match has_few {
            true => mounts.showing(machine),
            false => mounts.showing_by_mounts(machine),
        });
        let others = others.filter(|shown| shown.part.as_os_str().is_empty() && shown.place != Path::new("/"));
        let all: BTreeSet<PathBuf> = others
            .map(|shown| shown.place)
            .chain(machines.iter().cloned())
            .collect();
        mounts.machines = all.into_iter().collect();
        mounts
    }

    /// A mount in one of these trees that isn't on a local disk or in memory, such as the kernel's and those of
    /// servers; or a mount of the kernel's that contains a tree. Returns `/` if the mount table can't be read.
    pub fn unusual<'a>(trees: impl Iterator<Item = &'a Path> + Clone) -> Option<PathBuf> {
        let Ok(text) = fs::read("/proc/self/mountinfo") else {
            return Some(PathBuf::from("/"));
        };
        let is_unusual = |mount: &&Mount| {
            trees.clone().any(|tree| {
                let is_inside = mount.place.starts_with(tree) && mount.place != tree;
                is_inside && !mount.is_local || mount.is_kernels && tree.starts_with(&mount.place)
            })
        };
        Mounts::of(&text)
            .all
            .iter()
            .find(is_unusual)
            .map(|mount| mount.place.clone())
    }

    /// Adds the layers' other paths: a home may be a layer under another mount's path.
    fn name_layers_anew(&mut self) {
        let mut others = Vec::new();
        for (layer, whole) in &self.layers {
            let shown = self.showing_by_mounts(layer).into_iter();
            let all_of_it = shown.filter(|shown| shown.part.as_os_str().is_empty() && shown.place != *layer);
            others.extend(all_of_it.map(|shown| (shown.place, whole.clone())));
        }
        self.layers.extend(others);
    }

    fn of(text: &[u8]) -> Mounts {
        let mut mounts = Mounts::default();
        for line in text.split(|byte| *byte == b'\n') {
            let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
            let [_, _, device, root, place, ..] = fields[..] else {
                continue;
            };
            let place = unescaped(place);
            let behind = fields.iter().position(|field| *field == b"-");
            let behind = behind.map_or(&[][..], |at| &fields[at + 1..]);
            if let [b"overlay", _, options, ..] = behind {
                for layer in layers(options) {
                    match layer.is_absolute() {
                        true => mounts.layers.push((layer, place.clone())),
                        false if place != Path::new("/") => mounts.unknown.push((layer, place.clone())),
                        false => {}
                    }
                }
            }
            mounts.all.push(Mount {
                device: String::from_utf8_lossy(device).into_owned(),
                root: unescaped(root),
                place,
                is_local: behind
                    .get(..2)
                    .is_some_and(|of| is_of_disk(of[0], of[1]) || matches!(of[0], b"tmpfs" | b"ramfs")),
                is_kernels: behind.first().is_some_and(|kind| OF_THE_KERNEL.contains(kind)),
            });
        }
        mounts
    }

    /// Whether no place has a second path.
    pub fn show_nothing_twice(&self) -> bool {
        let is_alone = |(index, mount): (usize, &Mount)| {
            let others = || self.all.iter().enumerate().filter(move |(other, _)| *other != index);
            mount.root == Path::new("/") && others().all(|(_, other)| other.device != mount.device)
        };
        self.layers.is_empty() && self.unknown.is_empty() && self.all.iter().enumerate().all(is_alone)
    }

    /// The other paths of a place, or of a part of it, and the other paths of those: an overlay over another one.
    pub fn showing(&self, place: &Path) -> Vec<Shown> {
        let mut all: BTreeSet<Shown> = BTreeSet::new();
        let (start, nothing) = (place.to_path_buf(), PathBuf::new());
        let mut ahead = vec![Shown {
            place: start.clone(),
            part: nothing.clone(),
        }];
        while let Some(next) = ahead.pop() {
            for shown in self.showing_at_once(&next.place) {
                let part = next.part.join(shown.part).components().collect();
                let shown = Shown { part, ..shown };
                if all.len() < MAX_SHOWN && shown.place != place && all.insert(shown.clone()) {
                    ahead.push(shown);
                }
            }
        }
        // Without paths that lie inside another one of them.
        let is_whole = |shown: &&Shown| {
            let above = all
                .iter()
                .map(|other| (&other.place, &other.part))
                .chain([(&start, &nothing)]);
            !above.into_iter().any(|(place, part)| {
                let rest = shown.place.strip_prefix(place).ok();
                rest.is_some_and(|rest| !rest.as_os_str().is_empty() && part.join(rest) == shown.part)
            })
        };
        all.iter().filter(is_whole).cloned().collect()
    }

    fn showing_at_once(&self, place: &Path) -> Vec<Shown> {
        let mut found = self.showing_by_mounts(place);
        // A file system mounted below the place is also visible at its source.
        for mount in self.all.iter().filter(|mount| mount.place != place) {
            let Ok(part) = mount.place.strip_prefix(place) else {
                continue;
            };
            found.extend(self.sources(mount).into_iter().map(|shown| Shown {
                part: part.join(shown.part).components().collect(),
                place: shown.place,
            }));
        }
        for (layer, whole) in &self.layers {
            found.extend(shown(place, layer, whole));
            if let Ok(rest) = place.strip_prefix(whole) {
                found.push(Shown {
                    place: layer.join(rest).components().collect(),
                    part: PathBuf::new(),
                });
            } else if let Ok(part) = whole.strip_prefix(place) {
                found.push(Shown {
                    place: layer.clone(),
                    part: part.to_path_buf(),
                });
            }
        }
        found.retain(|shown| shown.place != place);
        found.sort();
        found.dedup();
        found
    }

    /// The other paths at which mounts of its file system show a place.
    fn showing_by_mounts(&self, place: &Path) -> Vec<Shown> {
        let mut found = Vec::new();
        if let Some(home) = self.mount_of(place)
            && let Ok(rest) = place.strip_prefix(&home.place)
        {
            let inside = home.root.join(rest);
            let same = self.all.iter().filter(|mount| mount.device == home.device);
            found.extend(same.filter_map(|mount| shown(&inside, &mount.root, &mount.place)));
        }
        found
    }

    /// The paths at which other mounts show the same as this one.
    fn sources(&self, mount: &Mount) -> Vec<Shown> {
        let others = self
            .all
            .iter()
            .filter(|other| other.device == mount.device && other.place != mount.place);
        others
            .filter_map(|other| shown(&mount.root, &other.root, &other.place))
            .collect()
    }

    /// Layers of overlays without a path known here, and the overlays' mount points: any home may be there.
    pub fn unknown_overlays(&self) -> &[(PathBuf, PathBuf)] {
        &self.unknown
    }

    /// The mount points of whole other machines.
    pub fn machines(&self) -> &[PathBuf] {
        &self.machines
    }

    /// Each mount of part of a file system: the part's path in the file system, and the mount point.
    pub fn parts(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let parts = self.all.iter().filter(|mount| mount.root != Path::new("/"));
        parts.map(|mount| (mount.root.as_path(), mount.place.as_path()))
    }

    /// The paths at which another machine's file of this path is visible: in a mount of the whole machine, or in one of
    /// a part, by the part's path in its file system. The other machine's own mounts aren't known here.
    pub fn of_other_machines(&self, path: &Path) -> Vec<PathBuf> {
        const OF_THE_KERNEL: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];
        let Ok(rest) = path.strip_prefix("/") else {
            return Vec::new();
        };
        if self.machines.is_empty() && self.parts().next().is_none() {
            return Vec::new();
        }
        if OF_THE_KERNEL.iter().any(|of_kernel| path.starts_with(of_kernel)) {
            return Vec::new();
        }
        let mut found: Vec<_> = self.machines.iter().map(|machine| machine.join(rest)).collect();
        for above in rest.ancestors().filter(|above| !above.as_os_str().is_empty()) {
            let parts = self.parts().filter(|(root, _)| root.ends_with(above));
            let below = rest.strip_prefix(above).unwrap_or(Path::new(""));
            found.extend(parts.map(|(_, place)| place.join(below).components().collect::<PathBuf>()));
        }
        // A part of a directory that is closed as a whole.
        if rest.components().count() > 1 {
            let is_inside = |root: &Path| root.ancestors().skip(1).any(|above| above.ends_with(rest));
            let parts = self.parts().filter(|(root, _)| is_inside(root));
            found.extend(parts.map(|(_, place)| place.to_path_buf()));
        }
        found.retain(|found| found != path);
        found
    }

    /// The mount that contains a path: the last one with the deepest mount point.
    fn mount_of(&self, path: &Path) -> Option<&Mount> {
        let around = self.all.iter().filter(|mount| path.starts_with(&mount.place));
        around.max_by_key(|mount| mount.place.components().count())
    }
}

/// The part of `path` that is visible at `place`, where `root` is mounted.
fn shown(path: &Path, root: &Path, place: &Path) -> Option<Shown> {
    if let Ok(rest) = path.strip_prefix(root) {
        return Some(Shown {
            place: place.join(rest).components().collect(),
            part: PathBuf::new(),
        });
    }
    root.strip_prefix(path).ok().map(|part| Shown {
        place: place.to_path_buf(),
        part: part.to_path_buf(),
    })
}

/// The directories of an overlay, from its options.
fn layers(options: &[u8]) -> Vec<PathBuf> {
    let options = options.split(|byte| *byte == b',');
    let values = options.filter_map(|option| {
        let names: [&[u8]; 3] = [b"lowerdir=", b"upperdir=", b"lowerdir+="];
        names.iter().find_map(|name| option.strip_prefix(*name))
    });
    let layers = values.flat_map(|value| value.split(|byte| *byte == b':'));
    layers
        .map(unescaped)
        .filter(|layer| !layer.as_os_str().is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
        23 22 8:1 /home/u /mnt/h rw - ext4 /dev/sda1 rw\n\
        24 22 8:1 /home/u/.ssh /mnt/a\\040b rw - ext4 /dev/sda1 rw\n\
        25 22 8:2 / /data rw - ext4 /dev/sdb1 rw\n\
        26 22 8:2 / /other rw - ext4 /dev/sdb1 rw\n\
        27 22 0:50 / /merged rw - overlay overlay rw,lowerdir=/home/u:/l,upperdir=/up,workdir=/work\n";

    fn showing(place: &str) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mounts = Mounts::of(TABLE);
        let shown = mounts.showing(Path::new(place)).into_iter();
        shown.map(|shown| (text(&shown.place), text(&shown.part))).collect()
    }

    fn expected(places: &[(&str, &str)]) -> Vec<(String, String)> {
        places
            .iter()
            .map(|(place, part)| (place.to_string(), part.to_string()))
            .collect()
    }

    #[test]
    fn a_place_is_shown_by_bind_mounts_of_it_of_what_is_around_it_and_of_what_is_in_it() {
        // A file that an overlay over a home shows may be in any of its layers.
        let home = [
            ("/l", ""),
            ("/merged", ""),
            ("/mnt/a b", ".ssh"),
            ("/mnt/h", ""),
            ("/up", ""),
        ];
        assert_eq!(showing("/home/u"), expected(&home));
        let inside = [
            ("/l/.aws", ""),
            ("/merged/.aws", ""),
            ("/mnt/h/.aws", ""),
            ("/up/.aws", ""),
        ];
        assert_eq!(showing("/home/u/.aws"), expected(&inside));
        assert_eq!(showing("/data/x"), expected(&[("/other/x", "")]));
        assert_eq!(showing("/etc/shadow"), expected(&[]));
    }

    #[test]
    fn what_is_mounted_on_a_place_or_below_it_is_seen_where_it_comes_from() {
        let table = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            23 22 8:1 /data/cfg /home/u/.config rw - ext4 /dev/sda1 rw\n\
            24 22 0:9 / /home/v rw - overlay overlay rw,lowerdir=/l,upperdir=/up\n\
            25 22 8:1 /data/homes /home rw - ext4 /dev/sda1 rw\n\
            26 22 0:10 / /o rw - overlay overlay rw,lowerdir=/data/homes/w:x\n";
        let mut mounts = Mounts::of(table);
        mounts.name_layers_anew();
        let has = |of: &str, place: &str, part: &str| {
            let wanted = Shown {
                place: place.into(),
                part: part.into(),
            };
            let found = mounts.showing(Path::new(of));
            assert!(found.contains(&wanted), "{of}: {place} isn't among {found:?}");
        };
        has("/home/u", "/data/cfg", ".config");
        has("/home/v", "/l", "");
        has("/home", "/l", "v");
        has("/home/w", "/o", "");
        has("/home/w", "/data/homes/w", "");
        assert_eq!(mounts.unknown_overlays(), [(PathBuf::from("x"), PathBuf::from("/o"))]);
    }

    #[test]
    fn other_machines_places_are_where_their_parts_and_wholes_are_mounted() {
        let table = b"22 1 0:50 / / rw - overlay overlay rw,lowerdir=/l\n\
            23 22 8:1 /etc /data/etc-of-host rw - ext4 /dev/sda1 rw\n\
            24 22 8:1 /@/var/lib /lib-of-host rw - btrfs /dev/sda1 rw\n\
            25 22 8:1 / /host rw - ext4 /dev/sda1 rw\n\
            26 22 8:1 /var/lib/docker/containers/1/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n\
            27 22 8:1 /etc/gshadow /data/g rw - ext4 /dev/sda1 rw\n\
            28 22 8:1 /etc/letsencrypt/live /certs rw - ext4 /dev/sda1 rw\n";
        let mut mounts = Mounts::of(table);
        mounts.machines = vec!["/host".into()];
        let of = |path: &str| mounts.of_other_machines(Path::new(path));
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            of("/etc/shadow"),
            paths(&["/host/etc/shadow", "/data/etc-of-host/shadow"])
        );
        assert_eq!(of("/var/lib/etcd"), paths(&["/host/var/lib/etcd", "/lib-of-host/etcd"]));
        assert_eq!(of("/opt/keys"), paths(&["/host/opt/keys"]));
        assert!(of("/etc/gshadow").contains(&"/data/g".into()));
        assert!(of("/etc/letsencrypt").contains(&"/certs".into()));
        assert_eq!(of("/dev/mem"), paths(&[]));
    }

    #[test]
    fn what_an_overlay_shows_is_in_its_layers() {
        let layers = [
            ("/home/u/root", ""),
            ("/l/root", ""),
            ("/mnt/h/root", ""),
            ("/up/root", ""),
        ];
        assert_eq!(showing("/merged/root"), expected(&layers));
    }

    #[test]
    fn a_table_without_bind_mounts_shows_nothing_twice() {
        let lines: Vec<&[u8]> = TABLE.split(|byte| *byte == b'\n').collect();
        assert!(Mounts::of(lines[0]).show_nothing_twice());
        assert!(!Mounts::of(&lines[..2].join(&b'\n')).show_nothing_twice());
        assert!(!Mounts::of(lines[5]).show_nothing_twice());
    }
}

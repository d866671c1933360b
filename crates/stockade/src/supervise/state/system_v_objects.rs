//! System V shared memory and semaphores that a run has made.

use std::collections::HashMap;

use stockade_sys::system_v::{self, Kind};

/// The objects that a run has made.
#[derive(Debug, Default)]
pub struct SystemVObjects(HashMap<(Kind, i32), Object>);

#[derive(Debug)]
struct Object {
    /// The run's key for the object; `IPC_PRIVATE` means none.
    key: i32,
    /// The number of bytes, or of semaphores.
    size: usize,
}

impl SystemVObjects {
    /// Most objects of a run at a time. The kernel has room for 4,096 segments.
    const MAX: usize = 256;

    /// Whether there is room for one more.
    pub fn has_room(&self) -> bool {
        self.0.len() < SystemVObjects::MAX
    }

    /// Whether the run has made it.
    pub fn contains(&self, kind: Kind, id: i32) -> bool {
        self.0.contains_key(&(kind, id))
    }

    /// Records one that was made, with its key and its number of bytes or semaphores.
    pub fn insert(&mut self, kind: Kind, id: i32, key: i32, size: usize) {
        self.0.insert((kind, id), Object { key, size });
    }

    /// Forgets one that is gone.
    pub fn forget(&mut self, kind: Kind, id: i32) {
        self.0.remove(&(kind, id));
    }

    /// The id and size of the object with this key.
    pub fn of_key(&self, kind: Kind, key: i32) -> Option<(i32, usize)> {
        let mut all = self.0.iter();
        let has_key = |(other, object): &(&(Kind, i32), &Object)| other.0 == kind && object.key == key;
        let ((_, id), object) = all.find(has_key).filter(|_| key != libc::IPC_PRIVATE)?;
        Some((*id, object.size))
    }

    /// The bytes of the run's shared memory, attached or not, and touched or not.
    pub fn memory(&self) -> u64 {
        let sizes = self.0.iter().filter(|((kind, _), _)| *kind == Kind::Memory);
        sizes.map(|(_, object)| object.size as u64).sum()
    }

    /// Removes all objects.
    pub fn clear(&mut self) {
        for ((kind, id), _) in self.0.drain() {
            let _ = system_v::remove(kind, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_by_its_kind_and_key_until_it_is_gone() {
        let mut objects = SystemVObjects::default();
        objects.insert(Kind::Memory, 5, 77, 4096);
        assert_eq!(objects.of_key(Kind::Memory, 77), Some((5, 4096)));
        assert_eq!(objects.of_key(Kind::Semaphores, 77), None);
        assert!(objects.contains(Kind::Memory, 5) && !objects.contains(Kind::Semaphores, 5));
        objects.forget(Kind::Memory, 5);
        assert_eq!(objects.of_key(Kind::Memory, 77), None);
    }

    #[test]
    fn a_private_object_is_found_by_no_key() {
        let mut objects = SystemVObjects::default();
        objects.insert(Kind::Memory, 5, libc::IPC_PRIVATE, 4096);
        assert_eq!(objects.of_key(Kind::Memory, libc::IPC_PRIVATE), None);
    }

    #[test]
    fn memory_is_what_segments_have_and_not_the_number_of_semaphores() {
        let mut objects = SystemVObjects::default();
        objects.insert(Kind::Memory, 1, 1, 4096);
        objects.insert(Kind::Memory, 2, 2, 8192);
        objects.insert(Kind::Semaphores, 3, 3, 100);
        assert_eq!(objects.memory(), 12288);
    }

    #[test]
    fn a_run_has_no_more_objects_than_there_is_room_for() {
        let mut objects = SystemVObjects::default();
        for id in 0..256 {
            assert!(objects.has_room(), "{id}");
            objects.insert(Kind::Memory, id, id + 1, 1);
        }
        assert!(!objects.has_room());
    }
}

//! The target that takes a snapshot.

use engine::{Engine, Limits};
use policies::policy;

/// Restores a snapshot, whose checksum and length are made right. An engine that comes out of it is
/// sound and has a snapshot of its own.
///
/// # Panics
///
/// Panics where an engine is restored that is not sound, or that does not come back from its own
/// snapshot.
pub fn snapshot(data: &[u8]) {
    let mut sealed = data.to_vec();
    seal(&mut sealed);
    for bytes in [data, &sealed] {
        let Ok(engine) = restore(bytes) else {
            continue;
        };
        engine.validate().expect("what is restored is sound");
        let own = engine.snapshot().expect("what was read can be written");
        let again = restore(&own).expect("an own snapshot can be read");
        assert_eq!(again.digest(), engine.digest());
    }
}

fn restore(bytes: &[u8]) -> Result<Engine, engine::Error> {
    let policy = policy("first").expect("there is such a policy");
    Engine::restore(bytes, policy, Limits::default())
}

/// Makes length and checksum of a snapshot right, whatever was done to what follows its header.
pub fn seal(bytes: &mut [u8]) {
    let Some((header, payload)) = bytes.split_at_mut_checked(28) else {
        return;
    };
    header[12..20].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    let summed = [&header[8..12], payload].concat();
    header[20..].copy_from_slice(&xxhash_rust::xxh3::xxh3_64(&summed).to_le_bytes());
}

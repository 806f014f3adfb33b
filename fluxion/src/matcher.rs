//! Which subsystems a matcher is aware of.

/// The names of matchers with the subsystems they walk, the dominant one first.
pub const MATCHERS: [(&str, &[&str]); 14] = [
    ("CA", &["containment"]),
    ("IBA", &["ibnet"]),
    ("IBBA", &["ibnetbw"]),
    ("PA", &["power"]),
    ("PFS1BA", &["pfs1bw"]),
    ("C+IBA", &["containment", "ibnet"]),
    ("C+IBBA", &["containment", "ibnetbw"]),
    ("C+PA", &["containment", "power"]),
    ("C+PFS1BA", &["containment", "pfs1bw"]),
    ("IB+IBBA", &["ibnet", "ibnetbw"]),
    ("C+P+IBA", &["containment", "power", "ibnet"]),
    ("V+PFS1BA", &["virtual1", "pfs1bw"]),
    ("VA", &["virtual1"]),
    ("ALL", &["containment", "ibnet", "ibnetbw", "pfs1bw", "power"]),
];

/// Returns the subsystems of a matcher, whose name may be all in upper or all in lower case.
pub fn matcher_subsystems(name: &str) -> Option<&'static [&'static str]> {
    let same = |known: &str| known == name || known.to_lowercase() == name;
    MATCHERS.iter().find(|(known, _)| same(known)).map(|(_, subsystems)| *subsystems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_either_case() {
        assert_eq!(matcher_subsystems("C+PA"), Some(&["containment", "power"][..]));
        assert_eq!(matcher_subsystems("c+pa"), matcher_subsystems("C+PA"));
        assert_eq!(matcher_subsystems("Ca"), None);
    }
}

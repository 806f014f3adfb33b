//! Numbers from runs, and how they are shown.

/// Returns the number in the middle, or the mean of the two there.
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let &upper = numbers.get(middle)?;
    Some(if numbers.len() % 2 == 1 { upper } else { f64::midpoint(numbers[middle - 1], upper) })
}

/// Returns the mean.
pub fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Returns the seconds that a line of `resource-query -e` tells for a match. A prompt and an echo of
/// the command may stand before them.
pub fn parse_elapse(line: &str) -> Option<f64> {
    let (_, number) = line.split_once("INFO: ELAPSE=")?;
    let seconds: f64 = number.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// Returns a time in the unit that suits it.
pub fn show_seconds(seconds: f64) -> String {
    if seconds >= 0.9995 {
        format!("{} s", show_number(seconds))
    } else if seconds >= 0.999_5e-3 {
        format!("{} ms", show_number(seconds * 1e3))
    } else {
        format!("{} us", show_number(seconds * 1e6))
    }
}

/// Returns an amount of memory in MB of a million bytes.
pub fn show_bytes(bytes: f64) -> String {
    format!("{} MB", show_number(bytes / 1e6))
}

/// Returns how many times as much `peer` is.
pub fn show_ratio(ratio: f64) -> String {
    format!("{}x", show_number(ratio))
}

/// Returns a number with three digits that count.
pub fn show_number(number: f64) -> String {
    if number >= 99.95 {
        format!("{number:.0}")
    } else if number >= 9.995 {
        format!("{number:.1}")
    } else {
        format!("{number:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    #[test]
    fn mean_is_of_all() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
    }

    #[test]
    fn elapse_is_read_from_its_line_only() {
        assert_eq!(parse_elapse("INFO: ELAPSE=0.000123"), Some(0.000_123));
        assert_eq!(parse_elapse("INFO: ELAPSE=5e-05\r"), Some(5e-5));
        assert_eq!(parse_elapse("resource-query> INFO: ELAPSE=1.5"), Some(1.5));
        assert_eq!(parse_elapse("INFO: ELAPSE=soon"), None);
        assert_eq!(parse_elapse("INFO: ELAPSE=inf"), None);
        assert_eq!(parse_elapse("INFO: ELAPSE=-1"), None);
        assert_eq!(parse_elapse("INFO: JOBID=1"), None);
    }

    #[test]
    fn numbers_are_shown_with_three_digits() {
        assert_eq!(show_seconds(0.000_003_14), "3.14 us");
        assert_eq!(show_seconds(0.052_3), "52.3 ms");
        assert_eq!(show_seconds(0.999_9), "1.00 s");
        assert_eq!(show_seconds(123.4), "123 s");
        assert_eq!(show_bytes(154_000_000.0), "154 MB");
        assert_eq!(show_ratio(1234.5), "1234x");
        assert_eq!(show_number(9.999), "10.0");
    }
}

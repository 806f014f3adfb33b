//! Tables in plain text.

use std::fmt::{self, Write as _};

/// A table whose columns are aligned right, except for the first ones.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    n_left: usize,
}

impl Table {
    /// Returns a table without rows whose first `n_left` columns are aligned left.
    pub fn new<const N: usize>(n_left: usize, head: [&str; N]) -> Self {
        Self { rows: vec![head.map(str::to_owned).to_vec()], n_left }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..n_columns).map(width).collect();
        for (i, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let _ = if column < self.n_left {
                    write!(line, "{gap}{cell:<width$}")
                } else {
                    write!(line, "{gap}{cell:>width$}")
                };
            }
            writeln!(f, "{}", line.trim_end())?;
            if i == 0 {
                let length = widths.iter().sum::<usize>() + 2 * n_columns.saturating_sub(1);
                writeln!(f, "{}", "-".repeat(length))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(1, ["what", "time"]);
        table.push(vec!["core1".to_owned(), "5 us".to_owned()]);
        table.push(vec!["load".to_owned(), "123 ms".to_owned()]);
        let expected = "what     time\n-------------\ncore1    5 us\nload   123 ms\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn short_rows_are_no_fault() {
        let mut table = Table::new(1, ["a", "b"]);
        table.push(vec!["c".to_owned()]);
        assert_eq!(table.to_string(), "a  b\n----\nc\n");
    }
}

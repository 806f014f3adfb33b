//! Plots as SVG, with a logarithm on each axis.

use std::fmt::Write as _;

use crate::figures::show_number;

/// Points under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name.
    pub name: String,
    /// Points from left to right. Those without a logarithm are left out.
    pub points: Vec<(f64, f64)>,
}

/// One plot of several on a sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub title: &'static str,
    /// What goes to the right.
    pub x_label: &'static str,
    /// What goes up.
    pub y_label: &'static str,
    /// What is drawn.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 48.0;

/// Colours that are told apart also by those who see fewer of them.
///
/// **Source**: Okabe and Ito 2008.
const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999"];
/// Series after the first eight are dashed.
const DASHES: [&str; 2] = ["none", "5 3"];

/// Returns a sheet with two panels in a row.
pub fn sheet(panels: &[Panel]) -> String {
    let n_rows = panels.len().div_ceil(2);
    let (width, height) = (2.0 * WIDTH, n_rows as f64 * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (i, panel) in panels.iter().enumerate() {
        let (x, y) = ((i % 2) as f64 * WIDTH, (i / 2) as f64 * HEIGHT);
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        draw(&mut svg, panel);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// The decades that hold all values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value.log10().floor());
            high = high.max(value.log10().ceil());
        }
        if low > high {
            return Self { low: 0.0, high: 1.0 };
        }
        Self { low, high: high.max(low + 1.0) }
    }

    /// Returns where a value lies between 0 and 1.
    fn place(self, value: f64) -> f64 {
        (value.log10() - self.low) / (self.high - self.low)
    }

    fn decades(self) -> impl Iterator<Item = f64> {
        let mut exponent = self.low;
        std::iter::from_fn(move || {
            let value = 10f64.powf(exponent);
            let is_inside = exponent <= self.high;
            exponent += 1.0;
            is_inside.then_some(value)
        })
    }
}

fn draw(svg: &mut String, panel: &Panel) {
    let drawn = |series: &Series| -> Vec<(f64, f64)> {
        series.points.iter().copied().filter(|&(x, y)| x > 0.0 && y > 0.0).collect()
    };
    let series: Vec<_> = panel.series.iter().map(|series| (&series.name, drawn(series))).collect();
    let points = || series.iter().flat_map(|(_, points)| points);
    let x_axis = Axis::around(points().map(|&(x, _)| x));
    let y_axis = Axis::around(points().map(|&(_, y)| y));
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let to_x = |x: f64| LEFT + x_axis.place(x) * (right - LEFT);
    let to_y = |y: f64| bottom - y_axis.place(y) * (bottom - TOP);
    let Panel { title, x_label, y_label, .. } = panel;
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"20\" font-size=\"13\" font-weight=\"bold\">{title}</text>"
    );
    for value in x_axis.decades() {
        let x = to_x(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            tick(value)
        );
    }
    for value in y_axis.decades() {
        let y = to_y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            tick(value)
        );
    }
    let (middle, height) = (f64::midpoint(LEFT, right), f64::midpoint(TOP, bottom));
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{x_label}</text>\
         <text transform=\"translate(14 {height}) rotate(-90)\" text-anchor=\"middle\">{y_label}</text>",
        HEIGHT - 12.0
    );
    for (i, (name, points)) in series.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let dash = DASHES[i / COLORS.len() % DASHES.len()];
        let mut path = String::new();
        for &(x, y) in points {
            let _ = write!(path, "{:.1},{:.1} ", to_x(x), to_y(y));
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{color}\"/>",
                to_x(x),
                to_y(y)
            );
        }
        let line = format!(
            "fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\""
        );
        let (legend, y) = (right + 12.0, TOP + 10.0 + 16.0 * i as f64);
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" {line}/>\
             <polyline points=\"{legend},{y} {},{y}\" {line}/>\
             <text x=\"{}\" y=\"{}\">{name}</text>",
            path.trim_end(),
            legend + 18.0,
            legend + 24.0,
            y + 4.0
        );
    }
}

fn tick(value: f64) -> String {
    if value >= 1e6 {
        format!("{:.0}M", value / 1e6)
    } else if value >= 1e3 {
        format!("{:.0}k", value / 1e3)
    } else if value >= 1.0 {
        format!("{value:.0}")
    } else {
        show_number(value).trim_end_matches('0').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_whole_decades() {
        let axis = Axis::around([3.0, 40.0].into_iter());
        assert_eq!(axis, Axis { low: 0.0, high: 2.0 });
        assert_eq!(axis.decades().map(tick).collect::<Vec<_>>(), ["1", "10", "100"]);
        assert!((axis.place(10.0) - 0.5).abs() < 1e-9);
        assert_eq!(Axis::around(std::iter::empty()), Axis { low: 0.0, high: 1.0 });
        assert_eq!(Axis::around([10.0].into_iter()), Axis { low: 1.0, high: 2.0 });
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(
            [0.1, 1.0, 100.0, 1e3, 1e5, 1e6].map(tick),
            ["0.1", "1", "100", "1k", "100k", "1M"]
        );
    }

    #[test]
    fn points_without_a_logarithm_are_left_out() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (10.0, 3.0)];
        let series = vec![Series { name: "low".to_owned(), points }];
        let svg = sheet(&[Panel { title: "t", x_label: "x", y_label: "y", series }]);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

//! The canvas of all plots: an SVG of fixed size with two scales, in colours that the page decides.

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBAColor, RGBColor, TextStyle};

/// A colour of the page, light or dark. Each has a unique colour in the drawing, which [`themed`] replaces with the style
/// sheet's variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Text, and points that belong to no method.
    Text,
    /// Axes and secondary text.
    Muted,
    /// Grid lines.
    Grid,
    /// The methods given.
    Given,
    /// The reference methods.
    Reference,
    /// Relevant documents.
    Relevant,
}

impl Ink {
    const ALL: [(Ink, &str); 6] = [
        (Ink::Text, "text"),
        (Ink::Muted, "muted"),
        (Ink::Grid, "grid"),
        (Ink::Given, "given"),
        (Ink::Reference, "reference"),
        (Ink::Relevant, "relevant"),
    ];

    fn color(self) -> RGBColor {
        RGBColor(1, 2, 3 + self as u8)
    }
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithm of one more than the number, so that 0 has a place.
    Log,
}

/// An axis: from the first number at its start to the last at its end.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    pub scale: Scale,
    pub from: f64,
    pub to: f64,
}

impl Axis {
    pub fn linear(from: f64, to: f64) -> Self {
        // A single number lies in the middle.
        let (from, to) = if to > from { (from, to) } else { (from - 0.5, to + 0.5) };
        Axis { scale: Scale::Linear, from, to }
    }

    pub fn log(to: f64) -> Self {
        Axis { scale: Scale::Log, from: 0.0, to: to.max(1.0) }
    }

    /// Place of a number, 0 at the start and 1 at the end.
    fn place(self, value: f64) -> f64 {
        let along = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(0.0).ln_1p(),
        };
        let (from, to) = (along(self.from), along(self.to));
        ((along(value) - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// Numbers to mark: round ones, at most about `count`.
    pub fn ticks(self, count: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let rough = (self.to - self.from) / count as f64;
                let unit = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0]
                    .map(|factor| factor * unit)
                    .into_iter()
                    .find(|step| *step >= rough * (1.0 - 1e-9));
                let step = step.unwrap_or(10.0 * unit);
                let first = (self.from / step - 1e-9).ceil();
                let last = (self.to / step + 1e-9).floor();
                (0..=(last - first).max(0.0) as usize).map(|at| (first + at as f64) * step).collect()
            }
            Scale::Log => {
                let decades = (0..12).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
                let all: Vec<f64> =
                    std::iter::once(0.0).chain(decades).take_while(|&tick| tick <= self.to * (1.0 + 1e-9)).collect();
                let step = all.len().div_ceil(count.max(1));
                all.into_iter().step_by(step).collect()
            }
        }
    }
}

/// A number at a tick.
fn tick_label(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    match rounded.abs() {
        size if size >= 1e6 => format!("{}M", rounded / 1e6),
        size if size >= 1e4 => format!("{}k", rounded / 1e3),
        _ => (rounded + 0.0).to_string().replace('-', "−"),
    }
}

/// Alignment of a text to its point.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    Left,
    Middle,
    Right,
}

/// An SVG drawing. Lengths are in units of the page. Inside, everything is four times as large, since the drawing library
/// takes whole numbers only.
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

const FINE: f64 = 4.0;

impl<'a> Canvas<'a> {
    pub fn new(buffer: &'a mut String, width: f64, height: f64) -> Self {
        let size = ((width * FINE) as u32, (height * FINE) as u32);
        Canvas { area: SVGBackend::with_string(buffer, size).into_drawing_area() }
    }

    pub fn line(&self, points: impl IntoIterator<Item = (f64, f64)>, ink: Ink, width: f64, opacity: f64) {
        let points: Vec<(i32, i32)> = points.into_iter().map(fine).collect();
        if points.len() > 1 {
            let style = style(ink, opacity).stroke_width((width * FINE).round() as u32);
            self.drawn(self.area.draw(&PathElement::new(points, style)));
        }
    }

    pub fn dot(&self, at: (f64, f64), radius: f64, ink: Ink, opacity: f64) {
        let radius = (radius * FINE).round() as i32;
        self.drawn(self.area.draw(&Circle::new(fine(at), radius, style(ink, opacity).filled())));
    }

    pub fn ring(&self, at: (f64, f64), radius: f64, ink: Ink) {
        let style = style(ink, 1.0).stroke_width((1.2 * FINE).round() as u32);
        self.drawn(self.area.draw(&Circle::new(fine(at), (radius * FINE).round() as i32, style)));
    }

    pub fn bar(&self, from: (f64, f64), to: (f64, f64), ink: Ink, opacity: f64) {
        self.drawn(self.area.draw(&Rectangle::new([fine(from), fine(to)], style(ink, opacity).filled())));
    }

    pub fn text(&self, at: (f64, f64), text: &str, ink: Ink, size: f64, anchor: Anchor) {
        let horizontal = match anchor {
            Anchor::Left => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        // The library makes text smaller by this factor in SVG.
        let font = ("sans-serif", size * FINE * 1.24).into_font();
        let color = style(ink, 1.0);
        let style = TextStyle::from(font).color(&color).pos(Pos::new(horizontal, VPos::Center));
        self.drawn(self.area.draw(&Text::new(text.to_owned(), fine(at), style)));
    }

    /// Drawing into memory cannot fail.
    fn drawn<E: std::error::Error>(&self, outcome: Result<(), E>) {
        debug_assert!(outcome.is_ok(), "drawing failed: {outcome:?}");
    }

    /// Ends the drawing. `buffer` then holds it; see [`themed`].
    pub fn finish(self) {
        self.drawn(self.area.present());
    }
}

/// The drawing with the page's colours, a flexible size, and a description for screen readers.
pub fn themed(svg: &str, description: &str) -> String {
    let mut themed = svg.to_owned();
    for (ink, name) in Ink::ALL {
        let RGBColor(red, green, blue) = ink.color();
        themed = themed.replace(&format!("\"#{red:02X}{green:02X}{blue:02X}\""), &format!("\"var(--{name})\""));
    }
    let themed = themed.replace(" font-family=\"sans-serif\"", "").replace(" opacity=\"1\"", "");
    // Width and height come first; the view box after them repeats them.
    let opening = format!("<svg role=\"img\" aria-label=\"{}\" ", crate::plot::escape(description));
    match themed.find("viewBox") {
        Some(at) => format!("{opening}{}", &themed[at..]),
        None => themed,
    }
}

fn fine((x, y): (f64, f64)) -> (i32, i32) {
    ((x * FINE).round() as i32, (y * FINE).round() as i32)
}

fn style(ink: Ink, opacity: f64) -> RGBAColor {
    ink.color().mix(opacity)
}

/// A rectangle of the canvas with an axis along each side.
pub struct Panel<'a, 'b> {
    pub canvas: &'a Canvas<'b>,
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Axis,
    pub y: Axis,
}

impl Panel<'_, '_> {
    /// The point of the canvas for two numbers.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + self.x.place(x) * self.width, self.top + (1.0 - self.y.place(y)) * self.height)
    }

    /// Grid lines with their numbers, and the labels of the axes.
    pub fn frame(&self, x_label: &str, y_label: &str) {
        let bottom = self.top + self.height;
        self.columns((self.width / 34.0) as usize, bottom);
        self.rows((self.height / 28.0) as usize, 5.0);
        self.canvas.text((self.left + self.width / 2.0, bottom + 22.0), x_label, Ink::Muted, 9.5, Anchor::Middle);
        self.canvas.text((self.left - 26.0, self.top - 10.0), y_label, Ink::Muted, 9.5, Anchor::Left);
    }

    /// Grid lines for about `count` numbers of the horizontal axis, which stand below `bottom`.
    pub fn columns(&self, count: usize, bottom: f64) {
        for tick in self.x.ticks(count) {
            let (x, _) = self.at(tick, self.y.from);
            self.canvas.line([(x, self.top), (x, bottom)], Ink::Grid, 0.75, 1.0);
            self.canvas.text((x, bottom + 9.0), &tick_label(tick), Ink::Muted, 9.0, Anchor::Middle);
        }
    }

    /// Grid lines for about `count` numbers of the vertical axis, which stand `aside` of it.
    pub fn rows(&self, count: usize, aside: f64) {
        for tick in self.y.ticks(count) {
            let (_, y) = self.at(self.x.from, tick);
            self.canvas.line([(self.left, y), (self.left + self.width, y)], Ink::Grid, 0.75, 1.0);
            self.canvas.text((self.left - aside, y), &tick_label(tick), Ink::Muted, 9.0, Anchor::Right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Axis::linear(0.0, 1.0).ticks(5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Axis::linear(0.3, 0.9).ticks(3), [0.4, 0.6000000000000001, 0.8]);
        assert_eq!(Axis::log(60.0).ticks(20), [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(Axis::log(60.0).ticks(4), [0.0, 2.0, 10.0, 50.0]);
        assert!(!Axis::linear(2.0, 2.0).ticks(4).is_empty());
        assert_eq!([0.6000000000000001, -0.5, 20_000.0, 3e6, -0.0].map(tick_label), ["0.6", "−0.5", "20k", "3M", "0"]);
    }

    #[test]
    fn places_run_from_start_to_end() {
        assert_eq!([0.0, 0.5, 1.0, 2.0].map(|value| Axis::linear(0.0, 1.0).place(value)), [0.0, 0.5, 1.0, 1.0]);
        let log = Axis::log(99.0);
        assert_eq!((log.place(0.0), log.place(99.0)), (0.0, 1.0));
        assert!((log.place(9.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_drawing_has_the_pages_colours_and_escapes_its_text() {
        let mut buffer = String::new();
        let canvas = Canvas::new(&mut buffer, 40.0, 20.0);
        for (ink, _) in Ink::ALL {
            canvas.text((1.0, 1.0), "<b>&", ink, 9.0, Anchor::Left);
        }
        canvas.finish();
        let svg = themed(&buffer, "a \"plot\"");
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\"a &quot;plot&quot;\" viewBox=\"0 0 160 80\""), "{svg}");
        assert!(svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;&amp;"));
        assert!(!svg.contains('#'), "{svg}");
        assert!(Ink::ALL.iter().all(|(_, name)| svg.contains(&format!("var(--{name})"))));
    }
}

//! The plane as a picture in HTML: words as points, movements as arrows, axes with names and numbers.

use super::html_page::escaped;
use super::plane::{Area, Bounds, Drawing, Ground, Labels, Spot, Ticks};
use crate::text::ScreenWidth;

/// The plane's own size, without the room for labels: small enough that letters stay readable on a phone.
const ACROSS: f64 = 280.0;
const HIGH: f64 = 200.0;
/// The minimum size of the plane: it shrinks to this if labels take much room.
const LEAST_ACROSS: f64 = 140.0;
const WIDEST: f64 = 430.0;
/// The factor by which the picture grows if there is room.
const ENLARGED: f64 = 1.15;
const MARGIN: f64 = 12.0;
/// Room above for the name of an axis, and below for the numbers of the other.
const ABOVE: f64 = 34.0;
const BELOW: f64 = 34.0;
/// The length of an arrow's head.
const HEAD: f64 = 9.0;
/// About as wide as a letter of a label, and as high as a line.
const LETTER: f64 = 8.0;
const LINE: f64 = 16.0;
/// A movement that is shorter is not seen.
const NEAR: f64 = 2.0;
/// Numbers of an axis are at least this far apart.
const APART: f64 = 44.0;
/// The distance of a label from its point.
const ASIDE: f64 = 9.0;

/// The picture; empty where there is nothing to draw.
pub fn picture(drawing: &Drawing) -> String {
    let Some(bounds) = drawing.bounds() else { return String::new() };
    let frame = Frame::around(drawing, bounds);
    let mut covered = Labels::within([0.0, ABOVE - LINE, frame.width, frame.height]);
    let mut inside = frame.axes(&drawing.axes, &mut covered);
    for (from, to) in &drawing.arrows {
        inside.push_str(&frame.arrow(from, to, &mut covered));
    }
    let points = drawing.points.iter().map(|point| (point, true));
    let moved = drawing.named_ends().filter(|(from, to)| frame.distance(from, to) >= NEAR);
    let all: Vec<(&Spot, bool)> = points.chain(moved.map(|(_, to)| (to, false))).collect();
    for (spot, _) in &all {
        let (x, y) = frame.place(spot.x, spot.y);
        covered.cover([x - 4.0, y - 4.0, x + 4.0, y + 4.0], Ground::Mark);
    }
    let mut without_room = Vec::new();
    for (spot, is_point) in &all {
        let label = frame.label(spot, *is_point, &mut covered);
        if label.is_empty() {
            without_room.push(escaped(&spot.label()));
        }
        if *is_point {
            let (x, y) = frame.place(spot.x, spot.y);
            let name = escaped(&spot.label());
            inside.push_str(&format!(
                "<g><title>{name}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/></g>"
            ));
        }
        inside.push_str(&label);
    }
    let caption = match &without_room[..] {
        [] => String::new(),
        names => format!("<figcaption>Without a label: {}</figcaption>", names.join(", ")),
    };
    format!(
        "<figure class=\"plane\"><svg viewBox=\"0 0 {:.0} {:.0}\" width=\"{:.0}\" role=\"img\" aria-label=\"{}\">\n{inside}</svg>{caption}</figure>\n",
        frame.width,
        frame.height,
        frame.width * ENLARGED,
        escaped(&told(drawing))
    )
}

/// A description of the picture for screen readers: `bat (3, 3) moves to (3.4, 1.8)`.
fn told(drawing: &Drawing) -> String {
    let points = drawing.points.iter().map(Spot::label);
    let arrows = drawing.arrows.iter().map(|(from, to)| format!("{} moves to {}", from.name, to.label()));
    let parts: Vec<String> = points.chain(arrows).collect();
    format!("{} to the right, {} upwards: {}", drawing.axes[0], drawing.axes[1], parts.join(", "))
}

/// The place of the plane in the picture; the scale is the same both ways.
struct Frame {
    bounds: Bounds,
    /// Room to the left for numbers.
    before: f64,
    scale: f64,
    ticks: Ticks,
    width: f64,
    height: f64,
}

impl Frame {
    fn around(drawing: &Drawing, bounds: Bounds) -> Frame {
        let frame = Frame::of_width(drawing, bounds, ACROSS);
        let over = frame.width - WIDEST;
        if over <= 0.0 {
            return frame;
        }
        Frame::of_width(drawing, bounds, (bounds.across() * frame.scale - over).max(LEAST_ACROSS))
    }

    /// The frame whose plane is at most this wide.
    fn of_width(drawing: &Drawing, bounds: Bounds, across: f64) -> Frame {
        let scale = (across / bounds.across().max(1e-300)).min(HIGH / bounds.up().max(1e-300));
        let fits = |widest: usize, step: f64| widest as f64 * LETTER + LETTER <= step * scale;
        let ticks = Ticks::apart((APART / scale).max(1e-290)).fitting(bounds.left, bounds.right, fits);
        let spots = || drawing.points.iter().chain(drawing.arrows.iter().map(|(_, to)| to));
        let wide = |spot: &Spot| ASIDE + spot.label().chars().count() as f64 * LETTER;
        // Left of the upward axis the labels stand to the left.
        let begins = spots().filter(|spot| spot.x < 0.0);
        let begins = begins.map(|spot| wide(spot) - (spot.x - bounds.left) * scale);
        let numbers = ticks.widest(bounds.bottom, bounds.top) as f64 * LETTER + LETTER;
        let before = MARGIN + begins.fold(numbers, f64::max);
        let axis = (drawing.axes[0].chars().count() + 5) as f64 * LETTER;
        let ends = spots().map(|spot| (spot.x - bounds.left) * scale + wide(spot));
        let width = before + ends.fold(bounds.across() * scale + axis, f64::max) + MARGIN;
        Frame { bounds, before, scale, ticks, width, height: bounds.up() * scale + ABOVE + BELOW }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.before + (x - self.bounds.left) * self.scale, ABOVE + (self.bounds.top - y) * self.scale)
    }

    /// Thin lines at round numbers, the numbers to the left and below, the axes through 0 and their names; all that a label would cover.
    fn axes(&self, names: &[String; 2], covered: &mut Labels) -> String {
        let Bounds { left, right, bottom, top } = self.bounds;
        let (end, low) = (self.width - MARGIN, self.height - BELOW);
        let mut out = String::new();
        for (y, text) in self.ticks.within(bottom, top) {
            let (begin, (_, at)) = (self.before - LETTER, self.place(0.0, y));
            out.push_str(&format!(
                "<path class=\"grid\" d=\"M{:.1} {at:.1}H{end:.1}\"/><text class=\"tick\" x=\"{begin:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>\n",
                self.before,
                at + 4.0
            ));
            let wide = text.chars().count() as f64 * LETTER;
            covered.cover([begin - wide, at - 6.0, begin, at + 5.0], Ground::Mark);
        }
        for (x, text) in self.ticks.within(left, right) {
            let (at, _) = self.place(x, 0.0);
            out.push_str(&format!(
                "<path class=\"grid\" d=\"M{at:.1} {ABOVE}V{low:.1}\"/><text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n",
                low + 18.0
            ));
            let half = text.chars().count() as f64 * LETTER / 2.0;
            covered.cover([at - half, low + 6.0, at + half, low + 20.0], Ground::Mark);
        }
        let (x, y) = self.place(0.0, 0.0);
        let upwards = ABOVE - 12.0;
        out.push_str(&format!(
            "<path class=\"axis\" d=\"M{:.1} {y:.1}H{end:.1}M{x:.1} {low:.1}V{upwards:.1}\"/>\n\
             <text class=\"axis-name\" x=\"{:.1}\" y=\"{upwards:.1}\">↑ {}</text>\
             <text class=\"axis-name\" x=\"{end:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} →</text>\n",
            self.before,
            x + 6.0,
            escaped(&names[1]),
            low + 18.0,
            escaped(&names[0])
        ));
        covered.cover([self.before, y - 1.0, self.width, y + 1.0], Ground::Upwards);
        covered.cover([x - 1.0, ABOVE, x + 1.0, low], Ground::Upwards);
        let wide = |name: &str| (name.chars().count() + 2) as f64 * LETTER;
        covered.cover([end - wide(&names[0]), low + 6.0, end, low + 22.0], Ground::Mark);
        covered.cover([x, ABOVE - 26.0, x + 6.0 + wide(&names[1]), ABOVE - 9.0], Ground::Mark);
        out
    }

    /// The distance between two spots in the picture.
    fn distance(&self, from: &Spot, to: &Spot) -> f64 {
        let ((x, y), (to_x, to_y)) = (self.place(from.x, from.y), self.place(to.x, to.y));
        ((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)).sqrt()
    }

    /// An arrow; a label covers its pieces only where there is no other room.
    fn arrow(&self, from: &Spot, to: &Spot, covered: &mut Labels) -> String {
        let ((x, y), (to_x, to_y)) = (self.place(from.x, from.y), self.place(to.x, to.y));
        let length = self.distance(from, to);
        let pieces = (length / 4.0).ceil().max(1.0);
        for piece in 0..=pieces as usize {
            let share = piece as f64 / pieces;
            let (x, y) = (x + share * (to_x - x), y + share * (to_y - y));
            covered.cover([x - 1.0, y - 1.0, x + 1.0, y + 1.0], Ground::Arrow);
        }
        if length < NEAR {
            return String::new();
        }
        // The head: a triangle whose tip is the end, so that no picture needs a name for a marker.
        let (along_x, along_y) = ((to_x - x) / length, (to_y - y) / length);
        let (back_x, back_y) = (to_x - HEAD * along_x, to_y - HEAD * along_y);
        let (side_x, side_y) = (-along_y * HEAD / 2.0, along_x * HEAD / 2.0);
        format!(
            "<path class=\"arrow\" d=\"M{x:.1} {y:.1}L{back_x:.1} {back_y:.1}\"/>\
             <path class=\"head\" d=\"M{to_x:.1} {to_y:.1}L{:.1} {:.1} {:.1} {:.1}z\"/>\n",
            back_x + side_x,
            back_y + side_y,
            back_x - side_x,
            back_y - side_y
        )
    }

    /// The label of a point or of the end of an arrow, on the outer side if it can be: with its coordinates, or the word alone;
    /// empty where it would cover another.
    fn label(&self, spot: &Spot, is_point: bool, covered: &mut Labels) -> String {
        let (x, y) = self.place(spot.x, spot.y);
        for label in [spot.label(), spot.name.clone()] {
            let wide = label.width() as f64 * LETTER;
            let area = |at: f64, line: f64| [at, line - LINE + 3.0, at + wide, line + 3.0];
            let lines = [4.0, -8.0, 18.0, -14.0, 24.0, -20.0, 28.0].map(|down| y + down);
            let right = lines.map(|line| area(x + ASIDE, line));
            let left = lines.map(|line| area(x - ASIDE - wide, line));
            let middle = [area(x - wide / 2.0, y - 10.0), area(x - wide / 2.0, y + 20.0)];
            let sides = if spot.x < 0.0 { [left, right] } else { [right, left] };
            let areas: Vec<Area> = sides.into_iter().flatten().chain(middle).collect();
            if let Some(found) = covered.free(&areas) {
                covered.cover(found, Ground::Mark);
                let class = if is_point { "" } else { " class=\"moved\"" };
                let (at, line) = (found[0], found[3] - 3.0);
                return format!("<text{class} x=\"{at:.1}\" y=\"{line:.1}\">{}</text>\n", escaped(&label));
            }
        }
        String::new()
    }
}

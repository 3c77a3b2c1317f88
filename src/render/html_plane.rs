//! The plane as a picture in HTML: words as points, movements as arrows.

use super::html_page::escaped;
use super::plane::{Drawing, Spot};

/// The picture's inside, without the room for labels.
const ACROSS: f64 = 420.0;
const HIGH: f64 = 260.0;
const MARGIN: f64 = 18.0;
/// How long an arrow's head is.
const HEAD: f64 = 9.0;
/// About as wide as a letter of a label.
const LETTER: f64 = 7.0;

/// The picture; empty where there is nothing to draw.
pub(super) fn picture(drawing: &Drawing) -> String {
    let Some(frame) = Frame::around(drawing) else { return String::new() };
    let mut inside = frame.axes();
    for (from, to) in &drawing.arrows {
        inside.push_str(&frame.arrow(from, to));
    }
    let mut taken = Vec::new();
    for point in &drawing.points {
        inside.push_str(&frame.point(point, &mut taken));
    }
    let labels: Vec<&str> = drawing.points.iter().map(|point| point.label.as_str()).collect();
    format!(
        "<figure class=\"plane\"><svg viewBox=\"0 0 {:.0} {:.0}\" width=\"{:.0}\" role=\"img\" aria-label=\"{}\">\n{inside}</svg></figure>\n",
        frame.width,
        frame.height,
        frame.width,
        escaped(&labels.join(", "))
    )
}

/// Where the plane lies in the picture; the scale is the same both ways.
struct Frame {
    left: f64,
    top: f64,
    scale: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn around(drawing: &Drawing) -> Option<Frame> {
        let (mut left, mut right, mut bottom, mut top, mut longest) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64, 0);
        for spot in drawing.spots() {
            (left, right) = (left.min(spot.x), right.max(spot.x));
            (bottom, top) = (bottom.min(spot.y), top.max(spot.y));
            longest = longest.max(spot.label.chars().count());
        }
        let (across, up) = (right - left, top - bottom);
        if !(across.is_finite() && up.is_finite()) || (across == 0.0 && up == 0.0) {
            return None;
        }
        let scale = (ACROSS / across.max(1e-300)).min(HIGH / up.max(1e-300));
        let width = across * scale + 2.0 * MARGIN + longest as f64 * LETTER;
        Some(Frame { left, top, scale, width, height: up * scale + 2.0 * MARGIN })
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (MARGIN + (x - self.left) * self.scale, MARGIN + (self.top - y) * self.scale)
    }

    fn axes(&self) -> String {
        let (x, y) = self.place(0.0, 0.0);
        format!("<path class=\"axis\" d=\"M0 {y:.1}H{:.1}M{x:.1} 0V{:.1}\"/>\n", self.width, self.height)
    }

    fn arrow(&self, from: &Spot, to: &Spot) -> String {
        let ((x, y), (to_x, to_y)) = (self.place(from.x, from.y), self.place(to.x, to.y));
        let length = ((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)).sqrt();
        if length < 0.5 {
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

    /// A point with its label to the right of it, moved down where another label stands already.
    fn point(&self, point: &Spot, taken: &mut Vec<(f64, f64)>) -> String {
        let (x, y) = self.place(point.x, point.y);
        let width = point.label.chars().count() as f64 * LETTER;
        let is_free = |at: f64| {
            taken.iter().all(|(other_x, other_y)| {
                (other_y - at).abs() >= 14.0 || (other_x - x).abs() >= width.max(60.0)
            })
        };
        let candidates = [y + 4.0, y - 10.0, y + 18.0];
        let at = candidates.into_iter().find(|&at| is_free(at) && at > 8.0).unwrap_or(y + 4.0);
        taken.push((x, at));
        format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/><text x=\"{:.1}\" y=\"{at:.1}\">{}</text>\n",
            x + 9.0,
            escaped(&point.label)
        )
    }
}

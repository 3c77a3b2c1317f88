//! What is wrong with the places of the tensors in a `.safetensors` file.

use serde_json::{Map, Value};

/// A tensor's first byte and the one behind its last, counted from the end of the header.
struct Place<'a> {
    name: &'a str,
    from: u64,
    to: u64,
}

/// The first two neighbours of a header that overlap, or that have bytes between them which belong to none; nothing where
/// something else is wrong with it.
pub(super) fn wrong_places(header: &[u8]) -> Option<String> {
    let header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    let tensors = header.iter().filter(|(name, _)| *name != "__metadata__");
    let mut places: Vec<Place<'_>> =
        tensors.map(|(name, tensor)| place(name, tensor)).collect::<Option<_>>()?;
    places.sort_by_key(|place| (place.from, place.to));
    let first = places.first()?;
    if first.from > 0 {
        return Some(format!(
            "the first {} bytes belong to no tensor: `{}` begins behind them",
            first.from, first.name
        ));
    }
    let wrong = places.windows(2).find(|pair| pair[0].to != pair[1].from)?;
    let [before, next] = wrong else { return None };
    Some(if next.from < before.to {
        let end = before.to.min(next.to);
        format!(
            "the tensors `{}` and `{}` overlap: both have the bytes {} to {end}",
            before.name, next.name, next.from
        )
    } else {
        let bytes = next.from - before.to;
        format!(
            "there is a hole: {bytes} bytes between the tensors `{}` and `{}` belong to none",
            before.name, next.name
        )
    })
}

fn place<'a>(name: &'a str, tensor: &Value) -> Option<Place<'a>> {
    let offsets = tensor.get("data_offsets")?.as_array()?;
    let (from, to) = (offsets.first()?.as_u64()?, offsets.get(1)?.as_u64()?);
    (from <= to).then_some(Place { name, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(places: &[(&str, u64, u64)]) -> Option<String> {
        let tensors: Map<String, Value> = places
            .iter()
            .map(|&(name, from, to)| (name.to_string(), serde_json::json!({"data_offsets": [from, to]})))
            .collect();
        wrong_places(Value::Object(tensors).to_string().as_bytes())
    }

    #[test]
    fn an_overlap_and_a_hole_are_told_apart() {
        let overlap = said(&[("a", 0, 8), ("b", 4, 12)]).unwrap();
        assert_eq!(overlap, "the tensors `a` and `b` overlap: both have the bytes 4 to 8");
        let hole = said(&[("b", 9, 17), ("a", 0, 8)]).unwrap();
        assert_eq!(hole, "there is a hole: 1 bytes between the tensors `a` and `b` belong to none");
        assert!(said(&[("a", 8, 16)]).unwrap().starts_with("the first 8 bytes belong to no tensor"));
        assert_eq!(said(&[("a", 0, 8), ("b", 8, 16)]), None);
        assert_eq!(said(&[("a", 8, 0)]), None);
        assert_eq!(wrong_places(b"{"), None);
    }
}

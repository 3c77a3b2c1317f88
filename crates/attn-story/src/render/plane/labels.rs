//! Places for labels, so that none covers another: one rule for the plane in characters and for its picture.

/// A rectangle: left, top, right, bottom. Two that share an edge do not meet.
pub type Area = [f64; 4];

/// What a label would cover.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// A point, a number, another label: never covered.
    Mark,
    /// The axis to the right.
    Across,
    /// The axis upwards.
    Upwards,
    /// A movement.
    Arrow,
}

/// What is covered so far, inside a room.
pub struct Labels {
    room: Area,
    covered: Vec<(Area, Ground)>,
}

impl Labels {
    /// An empty room.
    pub fn within(room: Area) -> Labels {
        Labels { room, covered: Vec::new() }
    }

    /// Something that stands there.
    pub fn cover(&mut self, area: Area, ground: Ground) {
        self.covered.push((area, ground));
    }

    /// The first of these areas that is free: the first one also over the axis across, then each on free ground, then over axes,
    /// then over movements.
    pub fn free(&self, areas: &[Area]) -> Option<Area> {
        const BESIDE: &[Ground] = &[Ground::Across];
        const OVER: [&[Ground]; 3] =
            [&[], &[Ground::Across, Ground::Upwards], &[Ground::Across, Ground::Upwards, Ground::Arrow]];
        let beside = areas.first().map(|area| (area, BESIDE));
        let others = OVER.into_iter().flat_map(|over| areas.iter().map(move |area| (area, over)));
        let found = beside.into_iter().chain(others).find(|(area, over)| self.has_room(area, over));
        found.map(|(area, _)| *area)
    }

    fn has_room(&self, area: &Area, over: &[Ground]) -> bool {
        let [left, top, right, bottom] = self.room;
        let is_inside = area[0] >= left && area[1] >= top && area[2] <= right && area[3] <= bottom;
        let meets = |other: &Area| {
            area[0] < other[2] && other[0] < area[2] && area[1] < other[3] && other[1] < area[3]
        };
        is_inside && self.covered.iter().all(|(other, ground)| over.contains(ground) || !meets(other))
    }
}

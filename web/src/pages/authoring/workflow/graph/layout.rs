//! Where the boxes of one list stand: in layers, each below all that it reads, with lines between them.

/// Between boxes of a layer, and between layers.
const BESIDE: f64 = 20.0;
const BELOW: f64 = 32.0;
/// What a line takes that passes a layer.
const LINE: f64 = 8.0;
/// How often the layers are put in order, down and up in turn.
const SWEEPS: usize = 6;

/// A box, and which boxes of the same list it reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub width: f64,
    pub height: f64,
    pub reads: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// From a box to one that reads it, by the points through which it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub from: usize,
    pub to: usize,
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub width: f64,
    pub height: f64,
    /// The upper left corner of each box.
    pub corners: Vec<Point>,
    pub lines: Vec<Line>,
}

pub fn lay_out(items: &[Item]) -> Layout {
    let mut slots = Slots::of(items, &layers(items));
    let rows = slots.rows();
    let width = rows.iter().map(|row| slots.width(row)).fold(0.0, f64::max);
    let mut y = 0.0;
    for row in &rows {
        let height = row.iter().map(|slot| slots.all[*slot].height).fold(0.0, f64::max);
        let mut x = (width - slots.width(row)) / 2.0;
        for slot in row {
            let slot = &mut slots.all[*slot];
            (slot.corner, slot.bottom) = (Point { x, y }, y + height);
            x += slot.width + BESIDE;
            // A line passes the whole layer.
            slot.height = if slot.is_line { height } else { slot.height };
        }
        y += height + BELOW;
    }
    let height = (y - BELOW).max(0.0);
    let corners = slots.all.iter().take(items.len()).map(|slot| slot.corner).collect();
    let lines = slots.chains.iter().filter_map(|chain| slots.line(chain)).collect();
    Layout { width, height, corners, lines }
}

/// Each box in the layer below the lowest one that it reads: the longest path decides.
fn layers(items: &[Item]) -> Vec<usize> {
    let mut layers = vec![0; items.len()];
    // What reads in a circle, which no compiled workflow does, ends after as many rounds as there are boxes.
    for _ in items {
        let below = |item: &Item| item.reads.iter().filter_map(|read| layers.get(*read)).map(|layer| layer + 1).max();
        let next: Vec<usize> = items.iter().map(|item| below(item).unwrap_or(0)).collect();
        if next == layers {
            break;
        }
        layers = next;
    }
    layers
}

/// The place of a box in its layer, or of a line that passes it.
struct Slot {
    layer: usize,
    width: f64,
    height: f64,
    corner: Point,
    /// Of its layer.
    bottom: f64,
    is_line: bool,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// All of them, the boxes first, and for each line the slots on its way.
struct Slots {
    all: Vec<Slot>,
    chains: Vec<Vec<usize>>,
}

impl Slots {
    fn of(items: &[Item], layers: &[usize]) -> Self {
        let origin = Point { x: 0.0, y: 0.0 };
        let slot = |layer, width, height, is_line| Slot {
            layer,
            width,
            height,
            corner: origin,
            bottom: 0.0,
            is_line,
            above: Vec::new(),
            below: Vec::new(),
        };
        let boxes = items.iter().zip(layers).map(|(item, layer)| slot(*layer, item.width, item.height, false));
        let mut slots = Self { all: boxes.collect(), chains: Vec::new() };
        for (to, item) in items.iter().enumerate() {
            for from in item.reads.iter().copied().filter(|from| *from < items.len() && layers[*from] < layers[to]) {
                let mut chain = vec![from];
                for layer in layers[from] + 1..layers[to] {
                    chain.push(slots.all.len());
                    slots.all.push(slot(layer, LINE, 0.0, true));
                }
                chain.push(to);
                slots.connect(&chain);
                slots.chains.push(chain);
            }
        }
        slots
    }

    fn connect(&mut self, chain: &[usize]) {
        for pair in chain.windows(2) {
            self.all[pair[0]].below.push(pair[1]);
            self.all[pair[1]].above.push(pair[0]);
        }
    }

    /// The slots of each layer, in an order in which lines cross little: each slot near the middle of those that it is connected
    /// with. Where that says nothing, the order of the document stays.
    fn rows(&self) -> Vec<Vec<usize>> {
        let depth = self.all.iter().map(|slot| slot.layer + 1).max().unwrap_or(0);
        let in_layer = |layer| (0..self.all.len()).filter(|slot| self.all[*slot].layer == layer).collect();
        let mut rows: Vec<Vec<usize>> = (0..depth).map(in_layer).collect();
        let mut places = vec![0.0; self.all.len()];
        rows.iter().for_each(|row| place(row, &mut places));
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            for at in 0..depth {
                let row = &mut rows[if down { at } else { depth - 1 - at }];
                let key = |slot: &usize| {
                    let Slot { above, below, .. } = &self.all[*slot];
                    mean(if down { above } else { below }, &places).unwrap_or(places[*slot])
                };
                row.sort_by(|one, other| key(one).total_cmp(&key(other)));
                place(row, &mut places);
            }
        }
        rows
    }

    #[expect(clippy::cast_precision_loss, reason = "a layer has few slots")]
    fn width(&self, row: &[usize]) -> f64 {
        row.iter().map(|slot| self.all[*slot].width).sum::<f64>() + BESIDE * row.len().saturating_sub(1) as f64
    }

    fn line(&self, chain: &[usize]) -> Option<Line> {
        let (from, to) = (*chain.first()?, *chain.last()?);
        let mut points = Vec::new();
        for at in chain {
            let slot = &self.all[*at];
            let x = slot.corner.x + slot.width / 2.0;
            if *at != from {
                points.push(Point { x, y: slot.corner.y });
            }
            if *at != to {
                let y = slot.corner.y + slot.height;
                points.push(Point { x, y });
                // Boxes beside it may reach further down.
                points.extend((slot.bottom > y).then_some(Point { x, y: slot.bottom }));
            }
        }
        Some(Line { from, to, points })
    }
}

/// The places of a row's slots, counted from its middle.
#[expect(clippy::cast_precision_loss, reason = "a layer has few slots")]
fn place(row: &[usize], places: &mut [f64]) {
    let middle = row.len().saturating_sub(1) as f64 / 2.0;
    for (at, slot) in row.iter().enumerate() {
        places[*slot] = at as f64 - middle;
    }
}

#[expect(clippy::cast_precision_loss, reason = "a slot has few neighbours")]
fn mean(neighbours: &[usize], places: &[f64]) -> Option<f64> {
    let sum: f64 = neighbours.iter().map(|slot| places[*slot]).sum();
    (!neighbours.is_empty()).then(|| sum / neighbours.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes of the same size, each by what it reads.
    fn items(reads: &[&[usize]]) -> Vec<Item> {
        reads.iter().map(|reads| Item { width: 100.0, height: 40.0, reads: reads.to_vec() }).collect()
    }

    #[test]
    fn a_box_stands_below_all_that_it_reads() {
        let list = items(&[&[], &[0], &[0, 1], &[], &[2, 3]]);
        assert_eq!(layers(&list), [0, 1, 2, 0, 3]);
        let corners = lay_out(&list).corners;
        for (at, item) in list.iter().enumerate() {
            assert!(item.reads.iter().all(|read| corners[*read].y + 40.0 < corners[at].y), "{at}");
        }
    }

    #[test]
    fn no_two_boxes_overlap_and_all_are_within_the_drawing() {
        let list = items(&[&[], &[], &[0], &[0], &[0, 1], &[2, 4], &[3]]);
        let Layout { width, height, corners, .. } = lay_out(&list);
        for (at, one) in corners.iter().enumerate() {
            assert!(one.x >= 0.0 && one.y >= 0.0 && one.x + 100.0 <= width && one.y + 40.0 <= height, "{one:?}");
            let apart = |other: &Point| (one.x - other.x).abs() >= 100.0 || (one.y - other.y).abs() >= 40.0;
            assert!(corners[at + 1..].iter().all(apart), "{at}");
        }
    }

    #[test]
    fn boxes_stand_near_those_that_they_read() {
        // Two chains whose second boxes come in the other order.
        let corners = lay_out(&items(&[&[], &[], &[1], &[0]])).corners;
        assert!(corners[0].x < corners[1].x && corners[3].x < corners[2].x, "{corners:?}");
    }

    #[test]
    fn a_long_line_passes_beside_the_boxes_between_its_ends() {
        let Layout { corners, lines, .. } = lay_out(&items(&[&[], &[0], &[1, 0]]));
        let long = lines.iter().find(|line| (line.from, line.to) == (0, 2)).unwrap();
        let between = &corners[1];
        let beside = |point: &Point| point.x < between.x || point.x > between.x + 100.0;
        assert_eq!(long.points.len(), 4);
        assert!(long.points[1..3].iter().all(beside), "{long:?} {between:?}");
        assert_eq!(long.points[3], Point { x: corners[2].x + 50.0, y: corners[2].y });
    }

    #[test]
    fn a_line_passes_what_is_taller_beside_its_beginning() {
        let mut list = items(&[&[], &[], &[0]]);
        list[1].height = 200.0;
        let Layout { corners, lines, .. } = lay_out(&list);
        let heights = (lines[0].points[1].y, lines[0].points[2].y);
        assert_eq!(heights, (200.0, corners[2].y), "it goes straight down first");
    }

    #[test]
    fn a_circle_and_nothing_at_all_are_drawn_as_well() {
        assert_eq!(lay_out(&items(&[&[1], &[0], &[7]])).corners.len(), 3);
        let none = lay_out(&[]);
        assert_eq!((none.width, none.height, none.lines.len()), (0.0, 0.0, 0));
    }
}

//! A state on a screen: the path, the matrices, the map of all steps, the sentence, the keys.

mod matrix;
mod wall;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use attn_story::live::sentences;
use attn_story::render::number_alone;

use crate::explain::SHOWN;
use crate::explore::{Mode, Purpose, Source, State};
use crate::graph::{CellId, Convention, Graph, Node, NodeId, Op, Origin, address_of};
use crate::render::{
    CellLines, Charset, Derivation, Format, Screen, Style as TextStyle, Theme, cell_lines_to, wrapped_text,
};
use crate::story::{self, Digits, Story};
use crate::terminal::{Cells, Key, Rect, Style};
use crate::text::{CUT, ScreenWidth};

use super::keys::{BINDINGS, Binding};

/// The smallest window that everything fits.
pub(super) const LEAST: (u16, u16) = (60, 16);
/// From this width on the map has room.
const WIDTH_WITH_MAP: u16 = 76;

/// What is drawn.
pub(super) struct Board<'a> {
    pub state: &'a State,
    /// The graph of the state with its sentences.
    pub story: &'a StepsOfStory,
    /// What the last key says that is no event of the state.
    pub said: Option<&'a str>,
    marks: Marks,
}

const PLAIN: Style = Style::PLAIN;
const BOLD: Style = Style { bold: true, ..PLAIN };

impl<'a> Board<'a> {
    /// A state with its sentences.
    pub fn new(state: &'a State, story: &'a StepsOfStory, said: Option<&'a str>) -> Board<'a> {
        Board { state, story, said, marks: Marks::of(state) }
    }

    /// The screen.
    fn screen(&self) -> Screen {
        self.story.screen
    }

    /// Text in a colour with this number on a dark or a light ground, where there are colours.
    fn coloured(&self, on_dark: u8, on_light: u8) -> Style {
        match (self.screen().colour, self.screen().theme) {
            (false, _) => PLAIN,
            (true, Theme::Light) => Style::of(on_light),
            (true, _) => Style::of(on_dark),
        }
    }

    /// Less important text.
    fn quiet(&self) -> Style {
        self.coloured(245, 242)
    }

    /// The text in the characters that the screen has.
    fn spelled(&self, text: &str) -> String {
        self.screen().charset.spelled(text).into_owned()
    }

    fn cut(&self, text: &str, room: usize) -> String {
        cut(text, room, self.screen().charset)
    }

    /// A rule as wide as the room.
    fn rule(&self, room: usize) -> String {
        self.spelled("─").repeat(room)
    }

    /// Writes a text, cut where the room ends.
    fn put(&self, cells: &mut Cells, (x, y): (u16, u16), room: u16, text: &str, style: Style) {
        let room = room.min(cells.width.saturating_sub(x));
        cells.put((x, y), &self.cut(&self.spelled(text), room.into()), room, style);
    }
}

/// A text that fits the room; a cut one ends with dots.
pub(super) fn cut(text: &str, room: usize, charset: Charset) -> String {
    if text.width() <= room {
        return text.to_string();
    }
    let dots = charset.spelled(&CUT.to_string()).into_owned();
    // Two dots would be all that is left of a few letters.
    let dots = if dots.width() > 1 && room <= 4 { "" } else { &dots };
    let mut start = text.to_string();
    while start.width() + dots.width() > room && start.pop().is_some() {}
    format!("{}{dots}", start.trim_end())
}

/// Where a cell of a matrix is on the screen, for clicks.
pub(super) type Hit = (Rect, CellId);

/// Draws the whole screen; returns where the cells of matrices are, and where the cursor of a text stands.
pub(super) fn draw(board: &Board<'_>, cells: &mut Cells) -> (Vec<Hit>, Option<(u16, u16)>) {
    let (width, whole) = (cells.width, cells.height);
    if width < LEAST.0 || whole < LEAST.1 {
        let text = format!("Make the window larger: {}x{} are needed.", LEAST.0, LEAST.1);
        for (y, line) in wrapped_text(&text, width.into()).iter().enumerate() {
            board.put(cells, (0, y as u16), width, line, PLAIN);
        }
        return (Vec::new(), None);
    }
    if let Mode::Help { page } = *board.state.mode() {
        draw_help(board, cells, page);
        return (Vec::new(), None);
    }
    let sentence_height = match whole {
        ..20 => 4,
        20..30 => 6,
        _ => 8,
    };
    let bottom = whole - sentence_height - 3;
    head(board, cells);
    let map = if width >= WIDTH_WITH_MAP { map_width(board, width) } else { 0 };
    let height = bottom - 2;
    let room = wall::Room { width: width.into(), height: height.into(), map: map.into() };
    let wall = wall::Wall::new(board, room);
    let map = if wall.has_map() { map } else { 0 };
    if map > 0 {
        draw_map(board, cells, Rect { x: 0, y: 2, width: map, height });
    }
    let hits = wall.draw(board, cells, Rect { x: map, y: 2, width: width - map, height });
    board.put(cells, (0, bottom), width, &board.rule(width.into()), board.quiet());
    // A long message takes lines of the sentence.
    let said = message_lines(board, width.into());
    let more = said.len().saturating_sub(1) as u16;
    let height = sentence_height - more;
    draw_sentence(board, cells, Rect { x: 0, y: bottom + 1, width, height });
    let y = whole - 2 - more;
    let cursor = draw_message(board, cells, &said, Rect { x: 0, y, width, height: 1 + more });
    hints(board, cells, whole - 1);
    (hits, cursor)
}

/// The path of the cursor, and the number of changes; below it the sentence of the step.
fn head(board: &Board<'_>, cells: &mut Cells) {
    let state = board.state;
    let graph = state.graph();
    let [done, undone] = state.undoable();
    let mut right: Vec<String> = Vec::new();
    if state.source().read_only().is_some() {
        right.push("read-only".to_string());
    }
    if state.predicts() {
        right.push("guessing".to_string());
    }
    if done + undone > 0 {
        right.push(format!("change {done} of {}", done + undone));
    }
    let right = board.spelled(&right.join(" · "));
    let (arrow, more) = match board.screen().charset {
        Charset::Utf8 => (" ▸ ", "…"),
        Charset::Ascii => (" > ", ".."),
    };
    let mut places: Vec<String> = state.path().iter().map(|&cell| address_of(graph, cell)).collect();
    places.push(address_of(graph, state.cursor()));
    let room = (cells.width as usize).saturating_sub(right.width() + 2);
    // The last places matter most.
    let mut path = board.spelled(&places.join(arrow));
    while path.width() > room && places.len() > 1 {
        places.remove(0);
        path = board.spelled(&format!("{more}{arrow}{}", places.join(arrow)));
    }
    board.put(cells, (0, 0), room as u16, &path, BOLD);
    let start = cells.width.saturating_sub(right.width() as u16);
    board.put(cells, (start, 0), right.width() as u16, &right, board.quiet());
    let text = board.story.sentence(state.cursor().node);
    board.put(cells, (0, 1), cells.width, text, board.quiet());
}

/// The keys that are needed most, as many as there is room for; the list of all keys and the end are always there.
fn hints(board: &Board<'_>, cells: &mut Cells, y: u16) {
    let mut all: Vec<(u8, &str, &'static str)> = match board.state.mode() {
        Mode::Typing { purpose: Purpose::Search, .. } => vec![(1, "Enter", "find"), (2, "Esc", "drop")],
        Mode::Typing { purpose: Purpose::File(_), .. } => vec![(1, "Enter", "write"), (2, "Esc", "drop")],
        Mode::Write => {
            vec![(1, "c", "command"), (2, "f", "files"), (3, "l", "lesson step"), (4, "Esc", "drop")]
        }
        Mode::Typing { .. } => vec![(1, "Enter", "take it"), (2, "Esc", "drop it")],
        Mode::Adjust(_) => {
            vec![(1, "← →", "change"), (2, "Backspace", "as at the start"), (3, "Enter", "done")]
        }
        _ => {
            let of = |binding: &'static Binding| binding.hint.map(|(rank, hint)| (rank, binding.shown, hint));
            BINDINGS.iter().filter_map(of).collect()
        }
    };
    all.sort_unstable();
    let spelled = |(_, keys, says): (u8, &str, &'static str)| {
        // In ASCII the letters take less room than arrows.
        let arrows = if board.screen().charset == Charset::Ascii { "hjkl" } else { "←↑↓→" };
        (board.spelled(if says == "move" { arrows } else { keys }), says)
    };
    let all: Vec<(String, &str)> = all.into_iter().map(spelled).collect();
    let width = |(keys, says): &(String, &str)| keys.width() + says.width() + 3;
    let kept: usize = all.iter().rev().take(2).map(width).sum();
    let mut room = (usize::from(cells.width) + 2).saturating_sub(kept);
    let last = all.len().saturating_sub(2);
    let mut x = 0;
    for (place, hint) in all.iter().enumerate() {
        if place < last {
            if width(hint) > room {
                continue;
            }
            room -= width(hint);
        }
        let (keys, says) = hint;
        board.put(cells, (x, y), cells.width, keys, BOLD);
        board.put(cells, (x + keys.width() as u16 + 1, y), cells.width, says, board.quiet());
        x += width(hint) as u16;
    }
}

// All keys, from the table that dispatches them.

/// Draws a page of the keys, in as many columns as fit.
fn draw_help(board: &Board<'_>, cells: &mut Cells, page: usize) {
    let height = usize::from(cells.height) - 1;
    let columns = usize::from((cells.width / COLUMN).max(1));
    let width = cells.width / columns as u16;
    let lines = help_lines();
    let pages: Vec<_> = lines.chunks(height * columns).collect();
    let page = page % pages.len().max(1);
    for (number, (keys, says)) in pages.get(page).copied().unwrap_or_default().iter().enumerate() {
        let (x, y) = ((number / height) as u16 * width, (number % height) as u16);
        let room = width.saturating_sub(1);
        match says {
            None => board.put(cells, (x, y), room, keys, Style { underlined: true, ..BOLD }),
            Some(says) => {
                board.put(cells, (x, y), room, keys, BOLD);
                board.put(cells, (x + KEYS, y), room.saturating_sub(KEYS), says, PLAIN);
            }
        }
    }
    let said = match pages.len() {
        0 | 1 => "Esc goes on.".to_string(),
        count => format!("Page {} of {count}: Space shows the next one, Esc goes on.", page + 1),
    };
    board.put(cells, (0, cells.height - 1), cells.width, &said, board.quiet());
}

/// The columns of a key with its meaning.
const COLUMN: u16 = 40;
/// The columns of the keys.
const KEYS: u16 = 10;

/// The first key of two that are opposites, which share a line.
const PAIRED: [Key; 3] = [Key::PageUp, Key::Char('g'), Key::Char('<')];

/// The lines: a heading, or keys with their meaning.
fn help_lines() -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for group in BINDINGS.chunk_by(|a, b| a.group == b.group) {
        all.push((group[0].group.to_string(), None));
        let mut of_group = group.iter();
        while let Some(binding) = of_group.next() {
            let other =
                binding.keys.iter().any(|key| PAIRED.contains(key)).then(|| of_group.next()).flatten();
            let both: Vec<_> = [Some(binding), other].into_iter().flatten().collect();
            let joined = |of: fn(&Binding) -> &str, sign: &str| {
                both.iter().map(|binding| of(binding)).collect::<Vec<_>>().join(sign)
            };
            all.push((joined(|binding| binding.shown, " "), Some(joined(|binding| binding.says, "; "))));
        }
    }
    debug_assert!(all.iter().all(|(keys, _)| keys.width() < 20));
    all
}

// The map of all steps: where the cursor is, what it reads, what reads it, and what has changed.

/// The columns for marks and gaps.
const BESIDES: usize = 5;
/// The columns for a shape.
const SHAPE: usize = 7;
/// From this width of the screen on there is room for shapes.
const WIDTH_WITH_SHAPES: u16 = 100;

/// The width of the map.
fn map_width(board: &Board<'_>, screen: u16) -> u16 {
    let longest = map_nodes(board).map(|(_, node)| node.name.width()).max().unwrap_or(0);
    let shape = if screen >= WIDTH_WITH_SHAPES { SHAPE } else { 0 };
    ((longest + BESIDES + shape) as u16).clamp(10, (screen / 4).max(18))
}

/// The steps that the map shows: those of all heads, and of the cursor's.
fn map_nodes<'b>(board: &'b Board<'_>) -> impl Iterator<Item = (NodeId, &'b Node)> {
    let graph: &Graph = board.state.graph();
    let here = graph[board.state.cursor().node].step.and_then(|step| step.head).unwrap_or(1);
    let is_shown = move |node: &Node| node.step.and_then(|step| step.head).is_none_or(|head| head == here);
    graph.nodes().filter(move |(_, node)| is_shown(node))
}

/// Draws the map.
fn draw_map(board: &Board<'_>, cells: &mut Cells, area: Rect) {
    let marks = &board.marks;
    let all: Vec<(NodeId, &Node)> = map_nodes(board).collect();
    let here = all.iter().position(|(id, _)| *id == board.state.cursor().node).unwrap_or(0);
    let height = usize::from(area.height);
    let start = here.saturating_sub(height / 2).min(all.len().saturating_sub(height));
    for (line, (id, node)) in all[start..].iter().take(height).enumerate() {
        let y = area.y + line as u16;
        let is_here = *id == board.state.cursor().node;
        let mark = match marks.read.iter().position(|read| read == id) {
            _ if is_here => ">",
            Some(0) => "[",
            Some(_) => "(",
            None if marks.readers.contains(id) => "'",
            None => " ",
        };
        let moved = if marks.moved.contains(id) { "*" } else { "" };
        let style = if is_here { Style { reversed: true, ..BOLD } } else { PLAIN };
        let name = format!("{mark} {}{moved}", node.name);
        let shape = board.spelled(&node.shape().to_string());
        let room = area.width.saturating_sub(2);
        let mut end = room;
        if cells.width >= WIDTH_WITH_SHAPES {
            end = room.saturating_sub(shape.width() as u16);
            board.put(cells, (area.x + end, y), room, &shape, board.quiet());
            end = end.saturating_sub(1);
        }
        board.put(cells, (area.x, y), end, &name, style);
    }
}

// The answer to the last key, or the text that is typed, in the lines above the hints.

/// The most lines of a message.
const MOST_LINES: usize = 3;

/// What is said, in at most three lines of this width: of a message the beginning, of a text that is typed the end.
fn message_lines(board: &Board<'_>, width: usize) -> Vec<String> {
    let said = board.said.map_or_else(|| sentences::bottom(board.state), str::to_string);
    let said = board.spelled(&said);
    if is_typed(board) {
        // Behind the last letter there is room for the cursor.
        let mut all = pieces(&said, width.saturating_sub(1));
        if let Some(left_out) = all.len().checked_sub(MOST_LINES + 1) {
            all.drain(..=left_out);
            let end: String = all[0].chars().skip(2).collect();
            all[0] = format!("{}{end}", board.spelled(&CUT.to_string()));
        }
        return all;
    }
    let mut all = wrapped_text(&said, width);
    if all.len() > MOST_LINES {
        let rest = all.split_off(MOST_LINES - 1).join(" ");
        all.push(board.cut(&rest, width));
    }
    all
}

/// Draws it; returns where the cursor of a text stands.
fn draw_message(board: &Board<'_>, cells: &mut Cells, lines: &[String], area: Rect) -> Option<(u16, u16)> {
    for (number, line) in lines.iter().enumerate() {
        board.put(cells, (0, area.y + number as u16), area.width, line, BOLD);
    }
    let x = lines.last().map_or(0, |line| line.width() as u16).min(area.width.saturating_sub(1));
    is_typed(board).then_some((x, area.y + area.height - 1))
}

fn is_typed(board: &Board<'_>) -> bool {
    matches!(board.state.mode(), Mode::Typing { .. })
}

/// A text in pieces of at most this many columns.
fn pieces(text: &str, width: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    for letter in text.chars() {
        let mut piece = all.pop().unwrap_or_default();
        if format!("{piece}{letter}").width() > width {
            all.push(std::mem::take(&mut piece));
        }
        piece.push(letter);
        all.push(piece);
    }
    all
}

// What a cell is to the number under the cursor.

/// What a cell is to the number under the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mark {
    /// Nothing.
    #[default]
    None,
    /// It stands under the cursor.
    Cursor,
    /// It is a part of its first operand.
    First,
    /// It is a part of its second operand, or of a later one.
    Second,
    /// It reads the number.
    Fed,
}

/// The marks of all cells.
struct Marks {
    /// The cell under the cursor.
    pub cursor: CellId,
    /// The cell that Enter opens.
    pub chosen: Option<CellId>,
    /// The operands, and the cells that read the number.
    others: HashMap<CellId, Mark>,
    /// The nodes that are read, in the order of writing.
    pub read: Vec<NodeId>,
    /// The nodes that read the number.
    pub readers: Vec<NodeId>,
    /// The nodes in which the last change has moved a number.
    pub moved: HashSet<NodeId>,
    /// The cell that is to be guessed.
    pub hidden: Option<CellId>,
}

impl Marks {
    /// The marks of a state.
    pub fn of(state: &State) -> Marks {
        let (sources, feeds) = (state.sources(), state.feeds());
        let mut others = HashMap::new();
        let mut mark = |(node, places): &(NodeId, Vec<(usize, usize)>), mark: Mark| {
            others.extend(places.iter().map(|&(row, col)| (CellId { node: *node, row, col }, mark)));
        };
        feeds.iter().for_each(|cells| mark(cells, Mark::Fed));
        for (number, cells) in sources.cells.iter().enumerate() {
            mark(cells, if number == 0 { Mark::First } else { Mark::Second });
        }
        Marks {
            cursor: state.cursor(),
            chosen: state.chosen_operand(),
            read: sources.cells.iter().map(|(node, _)| *node).collect(),
            others,
            readers: feeds.iter().map(|(node, _)| *node).collect(),
            moved: state.changed_nodes().iter().copied().collect(),
            hidden: state.is_hidden().then(|| state.cursor()),
        }
    }

    /// The mark of a cell.
    pub fn mark(&self, cell: CellId) -> Mark {
        if cell == self.cursor { Mark::Cursor } else { self.others.get(&cell).copied().unwrap_or_default() }
    }

    /// The first marked place of a node, which its window has to show.
    pub fn focus(&self, node: NodeId) -> Option<CellId> {
        if node == self.cursor.node {
            return Some(self.cursor);
        }
        if let Some(chosen) = self.chosen.filter(|cell| cell.node == node) {
            return Some(chosen);
        }
        // Operands before the cells that read the number.
        let in_node = self.others.iter().filter(|(cell, _)| cell.node == node);
        let first = in_node.min_by_key(|(cell, mark)| (**mark == Mark::Fed, cell.row, cell.col));
        first.map(|(cell, _)| *cell)
    }
}

// The sentence of the number under the cursor: in symbols, in numbers, and the result.

/// Of long sums the screen keeps this many terms: the first of these with which the result has room.
const KEPT: [usize; 5] = [SHOWN, 4, 3, 2, 1];
/// The columns that a line continues behind its formula's own.
const HANGING: usize = 4;

/// Draws the sentence. Its result is always there.
fn draw_sentence(board: &Board<'_>, cells: &mut Cells, area: Rect) {
    let lines = fitted(board, area.width.into(), area.height.into());
    for (number, line) in lines.iter().enumerate() {
        let style = if number == 0 { BOLD } else { PLAIN };
        board.put(cells, (area.x, area.y + number as u16), area.width, line, style);
    }
}

/// All lines of the sentence, wrapped to this width.
pub(in crate::explorer) fn sentence_lines(board: &Board<'_>, width: usize) -> Vec<String> {
    let Sentence { head, derived, with, notes, .. } = Sentence::of(board, width, SHOWN);
    let head = hanging("", HANGING, &head, width);
    [head, derived.concat(), with, notes.concat()].concat()
}

/// The lines of the sentence that this height has room for: of long sums fewer terms, and only the remarks that fit.
fn fitted(board: &Board<'_>, width: usize, height: usize) -> Vec<String> {
    let has_room = |sentence: &Sentence| sentence.height() <= height;
    let sentence = KEPT.iter().map(|&kept| Sentence::of(board, width, kept)).find(has_room);
    let Sentence { head, derived, with, notes, .. } =
        sentence.unwrap_or_else(|| Sentence::of(board, width, 1).cut_to(height));
    let mut all = [vec![head], derived.concat(), with].concat();
    for note in notes {
        if all.len() + note.len() <= height {
            all.extend(note);
        }
    }
    all.truncate(height);
    all
}

/// The parts of the sentence, in lines as wide as the screen.
struct Sentence {
    /// The number, its value, and its step.
    head: String,
    /// The formula in symbols, in numbers, and the result.
    derived: Vec<Vec<String>>,
    /// A name in the formula, its definition and its value.
    with: Vec<String>,
    /// The name and its value alone.
    short_with: Option<String>,
    notes: Vec<Vec<String>>,
    width: usize,
}

impl Sentence {
    fn of(board: &Board<'_>, width: usize, kept: usize) -> Sentence {
        let state = board.state;
        let decimals = state.decimals();
        let of_head = |head: String| Sentence {
            head: board.spelled(&head),
            derived: Vec::new(),
            with: Vec::new(),
            short_with: None,
            notes: Vec::new(),
            width,
        };
        let Some(value) = state.value() else {
            let name = &state.graph()[state.cursor().node].name;
            return of_head(match state.source() {
                Source::ReadOnly(graph, _)
                    if !graph.nodes().any(|(_, node)| matches!(node.op, Op::Fused(_))) =>
                {
                    format!("{name} is not in this file: it is too large for it, or was never formed.")
                }
                _ => format!("{name} is never formed: this path does not compute it."),
            });
        };
        let CellLines { address, step, symbol, derivation: Derivation { lines, with, notes } } =
            board.story.lines_of(state.cursor(), decimals, kept);
        // Of a matrix with changed numbers the others come from where they came from at the start.
        let step = state.origin_at_start(state.cursor()).map_or(step, ToString::to_string);
        let shown = if state.is_hidden() { "?".to_string() } else { number_alone(value, decimals) };
        let before = state.change_at(state.cursor()).map_or_else(String::new, |change| {
            format!("   (before: {})", number_alone(change.before, decimals))
        });
        let indent = board.spelled(&symbol).width() + 1;
        let hanging = |first: String, rest: usize, text: &str| {
            hanging(&board.spelled(&first), rest, &board.spelled(text), width)
        };
        let last = lines.len().saturating_sub(1);
        // The result of a guess is not told.
        let is_told = |number: &usize| *number != last || last == 0 || !state.is_hidden();
        let derived = (0..lines.len()).filter(is_told).map(|number| {
            let before = if number == 0 { format!("{symbol} ") } else { " ".repeat(indent) };
            let (sign, line) = &lines[number];
            hanging(format!("{before}{} ", sign.text()), indent + HANGING, line)
        });
        let indented = |text: &str| hanging(" ".repeat(indent), indent + HANGING, text);
        Sentence {
            derived: derived.collect(),
            with: with
                .iter()
                .flat_map(|(name, is, value)| indented(&format!("with {name} = {is} = {value}")))
                .collect(),
            short_with: with.map(|(name, _, value)| board.spelled(&format!("with {name} = {value}"))),
            notes: notes.iter().map(|note| indented(note)).collect(),
            ..of_head(format!("{address} = {shown}{before}   {step}"))
        }
    }

    /// The lines without remarks.
    fn height(&self) -> usize {
        1 + self.derived.iter().map(Vec::len).sum::<usize>() + self.with.len()
    }

    /// The sentence in this many lines: the name of a part stands behind the result, and what has no room of a formula is dots.
    fn cut_to(mut self, height: usize) -> Sentence {
        self.with.clear();
        if let (Some(result), Some(with)) =
            (self.derived.last_mut().and_then(|of| of.last_mut()), self.short_with.take())
            && result.width() + with.width() + 3 <= self.width
        {
            result.push_str(&format!("   {with}"));
        }
        while self.height() > height
            && let Some(longest) = self.derived.iter_mut().rev().max_by_key(|lines| lines.len())
            && longest.len() > 1
        {
            longest.pop();
            if let Some(end) = longest.last_mut() {
                *end = with_dots(end, self.width);
            }
        }
        // The value of a result that has no room stands in the first line.
        self.derived.truncate(height.saturating_sub(1));
        self
    }
}

/// A line that goes on where there is no room.
fn with_dots(line: &str, width: usize) -> String {
    let mut kept = line.trim_end_matches([' ', CUT]);
    while kept.width() + 2 > width {
        match kept.trim_end().rfind(' ') {
            Some(at) if !kept[..at].trim().is_empty() => kept = kept[..at].trim_end(),
            _ => break,
        }
    }
    format!("{kept} {CUT}")
}

/// A text behind `first`, in lines of this width; the others begin with this many blanks.
fn hanging(first: &str, blanks: usize, text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(blanks.max(first.width())).max(20);
    let with_start = |(number, line): (usize, String)| match number {
        0 => format!("{first}{line}"),
        _ => format!("{}{line}", " ".repeat(blanks)),
    };
    wrapped_text(text, room).into_iter().enumerate().map(with_start).collect()
}

// The graph of a state as a story: the sentence of each step, and the lines about each number.

/// What is said of the output of a head that is taken out.
const TAKEN_OUT: &str = "This head is taken out: its output is 0.";

/// What puts states into sentences on a screen.
#[derive(Clone)]
pub(crate) struct Narrator {
    /// The sentences of a demo, by the names of nodes.
    pub told: Arc<HashMap<String, String>>,
    /// The screen.
    pub screen: Screen,
}

/// The sentences of a graph.
pub(super) struct StepsOfStory {
    story: Story,
    screen: Screen,
    /// The sentence of each step, by the name of its node.
    sentences: HashMap<String, String>,
}

impl Narrator {
    /// The sentences of the graph of a state.
    pub(super) fn of(&self, state: &State) -> StepsOfStory {
        let graph = state.graph().clone();
        let story = match state.source() {
            Source::Attend(_) => story::attend("Attention", graph, Convention::Rows, Vec::new()),
            Source::Steps(_) | Source::ReadOnly(..) => Story::of_graph("", graph, Digits::Places(4)),
        };
        let mut sentences = story::sentences(&story);
        sentences.extend(self.told.iter().map(|(name, text)| (name.clone(), text.clone())));
        StepsOfStory { screen: self.screen, sentences, story }
    }
}

impl StepsOfStory {
    /// The sentence of a step; empty where there is none.
    pub fn sentence(&self, node: NodeId) -> &str {
        if self.story.graph[node].op == Op::Given(Origin::Removed) {
            return TAKEN_OUT;
        }
        self.sentences.get(&self.story.graph[node].name).map_or("", String::as_str)
    }

    /// The lines about a number; long sums keep this many terms.
    pub fn lines_of(&self, cell: CellId, decimals: usize, kept: usize) -> CellLines {
        let style = TextStyle { places: Some(decimals), ..TextStyle::on(self.screen, Format::Table) };
        cell_lines_to(&self.story, &style, cell, kept)
    }
}

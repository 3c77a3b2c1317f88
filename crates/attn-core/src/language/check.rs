//! What a condition of a demo and a key of a lesson may say.

use super::lexer::{newer, wrong};
use super::{CELL_FUNCTIONS, CellFunction, Expression, ExpressionKind as Kind, Gives, Name, Piece, Sign};
use crate::error::{Error, Result};
use crate::text::{clip, nearest};

/// An `f64` has at most this many significant digits.
const MOST_DECIMALS: usize = 17;

impl Expression {
    /// The expression itself, if it may stand in a lesson of this version; with 0, if it is a condition of a demo whose names are
    /// written out. The file is for errors.
    ///
    /// # Errors
    /// At the line and column of what a condition or key cannot say.
    pub fn checked(mut self, file: &str, version: u8) -> Result<Expression> {
        Check { file, version, bound: Vec::new() }.part(&mut self, true)?;
        Ok(self)
    }

    /// What it gives as a condition or a key.
    pub fn gives(&self) -> Gives {
        match &*self.kind {
            Kind::Call { function, .. } | Kind::Each { function, .. } => {
                CellFunction::named(function).map_or(Gives::Number, |function| function.gives)
            }
            Kind::Binary(sign, ..) | Kind::Unary(sign, _) if sign.gives_truth() => Gives::Truth,
            Kind::Close(..) => Gives::Truth,
            Kind::Choice(yes, ..) => yes.gives(),
            _ => Gives::Number,
        }
    }

    /// Whether it is a number that is written out, perhaps with its sign.
    pub fn is_literal(&self) -> bool {
        self.literal().is_some()
    }

    /// The number of decimals that it is.
    pub(super) fn decimals(&self, file: &str) -> Result<usize> {
        let number = self.literal().filter(|n| n.fract() == 0.0 && (0.0..=MOST_DECIMALS as f64).contains(n));
        number.map(|number| number as usize).ok_or_else(|| {
            wrong(file, self.at, format!("`{}` is not a number of decimals", clip(&self.to_string())))
                .help(format!("write a whole number from 0 to {MOST_DECIMALS}"))
        })
    }

    /// The number that is written out.
    pub(super) fn literal(&self) -> Option<f64> {
        match &*self.kind {
            Kind::Number(number) => Some(*number),
            Kind::Unary(Sign::Minus, of) if let Kind::Number(number) = *of.kind => Some(-number),
            _ => None,
        }
    }
}

struct Check<'a> {
    file: &'a str,
    version: u8,
    /// The names that are repeated here.
    bound: Vec<String>,
}

impl Check<'_> {
    fn part(&mut self, of: &mut Expression, is_whole: bool) -> Result<()> {
        let is_old = match &*of.kind {
            Kind::Number(number) if number.is_nan() && self.version > 0 => return Err(self.no_operand(of)),
            Kind::Number(_) | Kind::Reference { .. } | Kind::Is(..) => true,
            Kind::Call { .. } => {
                if self.call(of)? == "own" {
                    return Ok(());
                }
                true
            }
            Kind::Unary(..) => of.is_literal(),
            Kind::Binary(sign, ..) => is_whole && sign.is_comparison(),
            Kind::Each { function, first, .. }
                if first.is_empty() && ["all", "any", "sum"].contains(&function.as_str()) =>
            {
                false
            }
            Kind::Name(Name { pieces, .. }) if matches!(&pieces[..], [Piece::Text(name)] if self.bound.contains(name)) => {
                false
            }
            Kind::LargestSize(_) | Kind::Close(..) | Kind::Choice(..) => false,
            _ => return Err(self.no_operand(of)),
        };
        if self.version == 1 && !is_old {
            return Err(newer(self.file, of.at, &of.to_string()));
        }
        let bound = self.bound.len();
        if let Kind::Each { repeat, .. } = &*of.kind {
            self.bound.push(repeat.variable.clone());
        }
        for part in of.parts_mut() {
            self.part(part, false)?;
        }
        self.bound.truncate(bound);
        Ok(())
    }

    /// Checks a call, and says its function.
    fn call(&self, of: &Expression) -> Result<&'static str> {
        let Kind::Call { function, arguments, settings } = &*of.kind else { return Ok("") };
        let found = match CellFunction::named(function) {
            Some(found) if self.has(&found) => found,
            Some(found) if found.version > 0 => return Err(newer(self.file, of.at, found.name)),
            _ => {
                let known = CELL_FUNCTIONS.iter().filter(|known| self.has(known)).map(|known| known.name);
                let near = nearest(function, known).map(|near| format!("did you mean `{near}`? "));
                let error = wrong(self.file, of.at, format!("there is no function `{}`", clip(function)));
                return Err(error.help(near.unwrap_or_default() + &self.all_there_is()));
            }
        };
        let is_is = |of: &Expression| matches!(*of.kind, Kind::Is(..));
        let takes_several = self.version != 1 && ["all", "any", "sum", "min", "max"].contains(&found.name);
        let fits = settings.is_empty()
            && match (found.name, &arguments[..]) {
                ("own", _) => true,
                // What is repeated no times, written out.
                ("all" | "any" | "sum", []) => self.version == 0,
                ("count", [of, is]) => {
                    let is_new = |number: &Expression| self.version == 1 && !number.is_literal();
                    !is_is(of) && matches!(&*is.kind, Kind::Is(_, number) if !is_new(number))
                }
                ("round", [of, decimals]) if !is_is(decimals) => {
                    decimals.decimals(self.file).map(|_| !is_is(of))?
                }
                ("count" | "round", _) => false,
                (_, [_, more @ ..]) => !arguments.iter().any(is_is) && (more.is_empty() || takes_several),
                _ => false,
            };
        if !fits {
            let what = format!("`{}` is not a valid call of {}", clip(&of.to_string()), found.name);
            return Err(wrong(self.file, of.at, what).help(format!("write {}", found.usage(self.version))));
        }
        Ok(found.name)
    }

    /// The error of what is no value: most often a cell without its run, or a function without its brackets.
    fn no_operand(&self, of: &Expression) -> Error {
        let text = clip(&of.to_string());
        let help = match CellFunction::named(&text) {
            Some(function) => format!("write {}", function.usage(self.version)),
            None if self.version > 0 && matches!(*of.kind, Kind::Part(..)) => {
                format!("write its run before it: RUN:{text}")
            }
            None => self.all_there_is(),
        };
        let cell = if self.version > 0 { "a cell of a run" } else { "a cell" };
        wrong(self.file, of.at, format!("`{text}` is neither a number nor {cell}")).help(help)
    }

    /// The forms of the language, for an error.
    fn all_there_is(&self) -> String {
        let names = CELL_FUNCTIONS.iter().filter(|function| self.has(function)).map(|function| function.name);
        let (cell, signs) = match self.version {
            0 => ("A[bat,cave]", "≈ and or not + − · / ^ max|A|"),
            1 => ("RUN:A[bat,cave]", "one comparison alone"),
            _ => ("RUN:A[bat,cave]", "≈ and or not + − · / ^ max|RUN:A|"),
        };
        let names = names.collect::<Vec<&str>>().join(" ");
        format!("there are numbers, {cell}, {names} and == != < <= > >=, {signs}")
    }

    /// Whether a lesson of this version, or a demo, has a function.
    fn has(&self, function: &CellFunction) -> bool {
        self.version == 0 || (1..=self.version).contains(&function.version)
    }
}

//! The conditions of remarks, with their names and numbers written out.

use super::names::*;
use super::story::is_changeable;
use crate::error::ErrorKind;
use crate::story::condition::{GraphNumbers, truth};

impl Teller<'_> {
    /// Whether a condition holds for the numbers so far.
    pub(super) fn truth(&self, condition: &Expression) -> Result<bool> {
        truth(condition, &GraphNumbers(&self.graph, self.own_seed), 0)
    }

    /// A condition in which numbers stand for their names, and addresses for those of matrices.
    ///
    /// # Errors
    /// At what is no condition. That a cell is missing is none.
    pub(super) fn condition(&self, of: &Expression) -> Result<Expression> {
        let mut condition = of.clone();
        self.write_out(&mut condition)?;
        let condition = condition.checked(self.file, 0)?;
        match self.truth(&condition) {
            Err(error) if error.kind() != ErrorKind::Unknown => Err(self.placed(error, of.at)),
            _ => Ok(condition),
        }
    }

    fn write_out(&self, of: &mut Expression) -> Result<()> {
        if let Some(address) = self.address(of)? {
            *of.kind = Kind::Reference { run: String::new(), address };
            return Ok(());
        }
        if matches!(*of.kind, Kind::Name(_) | Kind::Call { .. }) && self.is_number(of) {
            *of.kind = Kind::Number(self.number(of)?);
            return Ok(());
        }
        match &mut *of.kind {
            Kind::Call { function, arguments, .. } if function == "own" => {
                for argument in arguments {
                    let name = match &*argument.kind {
                        Kind::Name(name) if is_changeable(&self.graph[self.node(name)?]) => {
                            self.name(name)?
                        }
                        Kind::Name(_) => {
                            return Err(self
                                .wrong(
                                    argument.at,
                                    "nobody can put other numbers in the place of this matrix",
                                )
                                .help("`own` takes matrices that are given"));
                        }
                        _ => return Err(self.wrong(argument.at, "`own` takes names of matrices")),
                    };
                    *argument.kind = Kind::Text(name);
                }
                return Ok(());
            }
            Kind::Each { function, first, argument, repeat } if first.is_empty() => {
                let arguments = self.repeated(Some(repeat), 1, || {
                    let mut once = argument.clone();
                    self.write_out(&mut once)?;
                    Ok(once)
                })?;
                let function = std::mem::take(function);
                *of.kind = Kind::Call { function, arguments, settings: Vec::new() };
                return Ok(());
            }
            _ => {}
        }
        of.parts_mut().into_iter().try_for_each(|part| self.write_out(part))
    }

    /// The address that an expression is, if it is one. A number in a name or an index is written out.
    fn address(&self, of: &Expression) -> Result<Option<String>> {
        let index = |at: &Expression, length: usize| -> Result<String> {
            match &*at.kind {
                Kind::Name(name) if self.name(name)? == "last" => Ok(length.to_string()),
                Kind::Text(text) => self.text(text),
                Kind::Name(name) if !self.is_number(at) => self.name_or_word(name),
                _ => Ok(self.whole(at)?.to_string()),
            }
        };
        Ok(match &*of.kind {
            Kind::Name(name) if self.graph.require(&self.name(name)?).is_ok() || !self.is_number(of) => {
                let Shape { rows, cols } = self.graph.matrix(self.node(name)?)?.shape();
                self.spend(of.at, 4.0 * (rows * cols) as f64)?;
                Some(self.name(name)?)
            }
            Kind::Text(name) if self.graph.require(name).is_ok() => Some(name.clone()),
            Kind::Part(name, indices) => {
                let Shape { rows, cols } = self.graph.matrix(self.node(name)?)?.shape();
                let name = self.name(name)?;
                match &indices[..] {
                    [Index::One(i), Index::One(j)] => {
                        Some(format!("{name}[{},{}]", index(i, rows)?, index(j, cols)?))
                    }
                    [Index::One(i)] | [Index::One(i), Index::All] => {
                        Some(format!("{name}[{}]", index(i, rows)?))
                    }
                    [Index::All, Index::One(j)] => Some(format!("{name}[*,{}]", index(j, cols)?)),
                    _ => return Err(self.wrong(of.at, "a condition names a cell, a row or a column")),
                }
            }
            _ => None,
        })
    }
}

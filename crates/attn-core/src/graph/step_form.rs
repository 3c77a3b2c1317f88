//! How JSON has a step: `{"stage": "scaled", "head": 2, "layer": 3}`, or `{"role": "W_Q"}` for a matrix that attention starts from.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::clip;

use super::stage::{Role, Stage, Step};

/// More heads or layers than any model has.
const MOST: usize = 1 << 24;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    layer: Option<usize>,
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Step { stage, head, layer } = *self;
        let (stage, role) = match stage {
            Stage::Role(role) => (None, Some(role.name().to_string())),
            other => (Some(other), None),
        };
        StepForm { stage, role, head, layer }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Step, D::Error> {
        let StepForm { stage, role, head, layer } = StepForm::deserialize(from)?;
        if [head, layer].into_iter().flatten().any(|number| number == 0 || number > MOST) {
            return Err(D::Error::custom(format!("heads and layers count from 1, at most to {MOST}")));
        }
        let stage = match (stage, role) {
            (Some(stage), None) => stage,
            (None, Some(name)) => match Role::all().find(|role| role.name() == name) {
                Some(role) => Stage::Role(role),
                None => return Err(D::Error::custom(format!("there is no role `{}`", clip(&name)))),
            },
            _ => return Err(D::Error::custom("a step is either a `stage` or a `role`")),
        };
        Ok(Step { stage, head, layer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_read_as_it_was_written() {
        for stage in Stage::all() {
            for step in [stage.of_head(None), stage.of_head(Some(3)).in_layer(Some(2))] {
                let form = serde_json::to_value(step).unwrap();
                assert_eq!(serde_json::from_value::<Step>(form.clone()).unwrap(), step, "{form}");
            }
        }
        let form = |step: Step| serde_json::to_string(&step).unwrap();
        assert_eq!(form(Stage::Scaled.of_head(Some(2))), r#"{"stage":"scaled","head":2}"#);
        assert_eq!(form(Role::WQ.into()), r#"{"role":"W_Q"}"#);
        for wrong in [
            "{}",
            r#"{"role":"Z"}"#,
            r#"{"stage":"scaled","role":"Q"}"#,
            r#"{"stage":"scaled","head":0}"#,
            r#"{"stage":"scored"}"#,
        ] {
            assert!(serde_json::from_str::<Step>(wrong).is_err(), "{wrong}");
        }
    }
}

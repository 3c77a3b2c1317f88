//! Names for the fields of tuple variants in JSON.

/// A type that writes the fields of a tuple variant as an object and reads them, for `#[serde(with = "Softmax")]`:
/// `named!(Softmax { axis: Axis, base: Base })`.
macro_rules! named {
    ($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),+ }) => {
        #[derive(::serde::Serialize, ::serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($(#[$attribute])* $field: $type),+
        }

        impl $name {
            #[allow(clippy::ptr_arg, reason = "serde passes each field by reference")]
            pub(super) fn serialize<S: ::serde::Serializer>(
                $($field: &$type,)+ serializer: S,
            ) -> Result<S::Ok, S::Error> {
                ::serde::Serialize::serialize(&$name { $($field: $field.clone()),+ }, serializer)
            }

            #[allow(unused_parens, reason = "one field alone is no tuple")]
            pub(super) fn deserialize<'de, D: ::serde::Deserializer<'de>>(
                from: D,
            ) -> Result<($($type),+), D::Error> {
                let fields = <$name as ::serde::Deserialize>::deserialize(from)?;
                Ok(($(fields.$field),+))
            }
        }
    };
}

pub(super) use named;

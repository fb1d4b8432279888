//! The type `vector` of the server, in its binary form: the number of dimensions, two zero bytes, then the values.

use std::error::Error;

use half::f16;
use tokio_postgres::types::{FromSql, Type};

use crate::vectors::unit;

/// A vector of full precision.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Vector(pub Vec<f32>);

impl Vector {
    /// Scales a vector to unit length. Its values have half precision, so that answers are those of a directory.
    pub fn unit(values: &[f32]) -> Vector {
        Vector(unit(values).map(f16::to_f32).collect())
    }
}

/// The bytes before the values.
const HEADER: usize = 4;

impl<'r> FromSql<'r> for Vector {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Vector, Box<dyn Error + Sync + Send>> {
        let (header, values) = raw.split_at_checked(HEADER).ok_or("a vector without its dimensions")?;
        let (values, rest) = values.as_chunks::<4>();
        if values.len() != usize::from(u16::from_be_bytes([header[0], header[1]])) || !rest.is_empty() {
            return Err("a vector of another length than it says".into());
        }
        Ok(Vector(values.iter().map(|bytes| f32::from_be_bytes(*bytes)).collect()))
    }

    /// A statement reads a vector as the bytes of `vector_send`. Looking up a type of an extension while rows of the same statement are
    /// waiting would never end: the connection reads one answer after the other.
    fn accepts(of: &Type) -> bool {
        *of == Type::BYTEA
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_read_back(values in prop::collection::vec(-1.0f32..1.0, 0..50)) {
            let mut bytes = vec![0, values.len() as u8, 0, 0];
            bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
            prop_assert_eq!(Vector::from_sql(&Type::TEXT, &bytes).unwrap(), Vector(values));
        }

        #[test]
        fn any_bytes_are_a_vector_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Vector::from_sql(&Type::TEXT, &bytes);
        }
    }

    #[test]
    fn a_vector_of_unit_length_points_the_same_way() {
        assert_eq!(Vector::unit(&[3.0, 4.0]), Vector(vec![0.600_097_66, 0.799_804_7]), "in half precision");
        assert_eq!(Vector::unit(&[0.0, 0.0]), Vector(vec![0.0, 0.0]));
    }
}

//! The texts of a column, without a copy.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::{ArrowError, DataType};

/// Texts or bytes of any type that has them.
pub(super) enum Texts {
    Small(BinaryArray),
    Large(LargeBinaryArray),
    Views(BinaryViewArray),
}

impl Texts {
    pub(super) const fn are_in(kind: &DataType) -> bool {
        use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
        matches!(kind, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
    }

    /// Texts are taken as bytes, as their producer may not have checked them. Their places are checked.
    pub(super) fn of(column: &ArrayRef) -> Result<Self, ArrowError> {
        let texts = match column.data_type() {
            DataType::Utf8 => Self::Small(column.as_string::<i32>().clone().into()),
            DataType::LargeUtf8 => Self::Large(column.as_string::<i64>().clone().into()),
            DataType::Utf8View => Self::Views(column.as_string_view().clone().to_binary_view()),
            DataType::Binary => Self::Small(column.as_binary::<i32>().clone()),
            DataType::LargeBinary => Self::Large(column.as_binary::<i64>().clone()),
            DataType::BinaryView => Self::Views(column.as_binary_view().clone()),
            other => return Err(ArrowError::CastError(format!("{other} has no texts"))),
        };
        texts.array().to_data().validate_full()?;
        Ok(texts)
    }

    fn array(&self) -> &dyn Array {
        match self {
            Self::Small(array) => array,
            Self::Large(array) => array,
            Self::Views(array) => array,
        }
    }

    /// None if the row is null.
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        self.array().is_valid(row).then(|| match self {
            Self::Small(array) => array.value(row),
            Self::Large(array) => array.value(row),
            Self::Views(array) => array.value(row),
        })
    }
}

//! What stands for decompression in a build without it.

use super::{CaptureError, Compression};

#[derive(Debug)]
pub(super) enum Decompressor {}

impl Decompressor {
    pub(super) fn new(_: Compression) -> Result<Self, CaptureError> {
        Err(CaptureError::LeftOut("compression"))
    }

    pub(super) fn take(&mut self, _: &[u8]) {
        match *self {}
    }

    pub(super) fn end(&mut self) {
        match *self {}
    }

    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, CaptureError> {
        match *self {}
    }

    pub(super) fn push(
        &mut self,
        _: &[u8],
        _: &mut impl FnMut(&[u8]) -> Result<(), CaptureError>,
    ) -> Result<(), CaptureError> {
        match *self {}
    }

    pub(super) fn finish(
        &mut self,
        _: &mut impl FnMut(&[u8]) -> Result<(), CaptureError>,
    ) -> Result<(), CaptureError> {
        match *self {}
    }
}

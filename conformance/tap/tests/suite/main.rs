//! What passes through a tap is what came, whatever becomes of the copy.

mod ends;
mod judging;
mod passing;
mod scene;

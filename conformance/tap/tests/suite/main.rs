//! A tap changes no byte, whatever becomes of its copies.

mod ends;
mod judging;
mod passing;
mod scene;
mod socket;

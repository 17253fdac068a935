//! Tests of the public functions, in one program.

mod answers;
mod bodies;
mod calls;
mod counts;
mod ends;
mod fragments;
mod joined;
mod odd;
mod recognised;
mod requests;

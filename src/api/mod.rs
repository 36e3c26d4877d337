//! Types of the API and the names everybody shares. No behaviour beyond accessors; knows no other module.

mod code;
pub mod keys;

pub use code::Code;

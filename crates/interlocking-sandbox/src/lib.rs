//! Confines a program and everything it starts to its own place.

mod protection;

mod grant;
mod presets;

mod links;
mod sandbox;

mod enforcement;

pub use grant::{Access, Grant};
pub use links::links_leading_out;
pub use protection::{Protection, Support};
pub use sandbox::{Confinement, EnterError, Network, PrepareError, Sandbox};

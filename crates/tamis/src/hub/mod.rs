//! Models by name, from a hub that speaks the protocol of huggingface.co.
//!
//! [`add`] fetches the files that a model needs into the user's directory of models ([`ModelsDirectory`]), checks them against the
//! hub's sums, and computes something with the model before it counts as there. A configuration then names it with
//! `provider = "hub"`. Nothing else in the library fetches a model.
//!
//! The protocol is small, so it is spoken here, with the HTTP client that the other clients use. From the outside in: `add` does the
//! whole, `choose` picks the files by what the repository says of itself, `families` knows the prefixes of models that do not say
//! theirs, `download` fetches one file, `listing` reads the list of files, and `transport` sends one request.

#[cfg(feature = "hub")]
mod add;
#[cfg(feature = "hub")]
mod choose;
mod directory;
#[cfg(feature = "hub")]
mod download;
#[cfg(feature = "hub")]
mod families;
#[cfg(feature = "hub")]
mod listing;
mod name;
mod record;
#[cfg(feature = "hub")]
mod sums;
#[cfg(feature = "hub")]
mod token;
#[cfg(feature = "hub")]
mod transport;

#[cfg(feature = "hub")]
pub use add::{AddRequest, Added, MOST_BYTES, add};
pub(crate) use directory::check;
pub use directory::{InstalledModel, ModelsDirectory};
pub use name::{ModelName, NameError};
pub use record::{ModelKind, ModelRecord, RecordedFile};
#[cfg(feature = "hub")]
pub use token::HubToken;
#[cfg(feature = "hub")]
pub use transport::{HUB, HubAccess};

//! The machine that this program runs on.

/// Returns the name of this machine, as others know it.
pub fn machine_name() -> String {
    #[cfg(unix)]
    let name = Some(rustix::system::uname().nodename().to_string_lossy().into_owned());
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").ok();
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unnamed".to_owned())
}

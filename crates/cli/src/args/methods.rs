//! Help on the cut methods, from the methods' own descriptions.

use std::fmt::Write;
use tamis_cut::METHODS;

/// The names of all methods, for the other commands' help.
pub fn names() -> String {
    let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    format!("Cut methods: {}. `tamis cut --help` describes them and their parameters.", names.join(", "))
}

/// Every method with its parameters, their ranges and their defaults.
pub fn help() -> String {
    let mut text = String::from("Cut methods, with their parameters:\n");
    for method in METHODS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n  {}: {}", method.name, method.summary);
        for parameter in method.parameters {
            let _ = writeln!(
                text,
                "      {}={}  {} ({})",
                parameter.name,
                parameter.default(),
                parameter.doc.trim_end_matches('.'),
                parameter.range,
            );
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_parameter_is_listed() {
        let text = help();
        for method in METHODS {
            assert!(text.contains(&format!("\n  {}: ", method.name)), "{}", method.name);
            for parameter in method.parameters {
                assert!(text.contains(&format!("{}={}  ", parameter.name, parameter.default())), "{}", parameter.name);
            }
        }
    }
}

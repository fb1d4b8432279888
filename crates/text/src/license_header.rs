//! Licence headers: the comment at the beginning of a file that says under which terms it may be used. Every file of a project
//! repeats it, and it says nothing about the code.

/// Words of a paragraph about a licence, in lower case.
const WORDS: [&str; 8] = [
    "copyright", "is part of ", "licence", "license", "permission is hereby granted", "redistribut", "spdx-", "warrant",
];

/// Beginnings of the lines that load other code. They can stand beside a header in one passage.
const IMPORTS: [&str; 9] =
    ["\"use strict", "'use strict", "#include", "from ", "import ", "namespace ", "package ", "use ", "using "];

/// Least share of the letters of a text that a licence has, where the text is one.
const LEAST: f64 = 0.8;

/// Returns `true` if a text without a symbol of its own is a licence header, with nothing besides but imports. O(its length).
pub(crate) fn is_license_header(text: &str) -> bool {
    let (mut of_license, mut other) = (0, 0);
    let mut paragraph = String::new();
    let mut finish = |paragraph: &mut String| {
        let lower = paragraph.to_lowercase();
        let letters = lower.chars().filter(|c| c.is_alphabetic()).count();
        match WORDS.iter().any(|word| lower.contains(word)) {
            true => of_license += letters,
            false => other += letters,
        }
        paragraph.clear();
    };
    for line in text.lines().map(str::trim) {
        if !line.contains(char::is_alphabetic) {
            finish(&mut paragraph);
        } else if !IMPORTS.iter().any(|start| line.starts_with(start)) {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    finish(&mut paragraph);
    of_license > 0 && f64::from(of_license as u32) >= LEAST * f64::from((of_license + other) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_licences_and_what_says_more_is_none() {
        for text in [
            "// SPDX-License-Identifier: MIT",
            "// Copyright 2020 The Authors. All rights reserved.\n// Use of this source code is governed by a BSD licence.\n\npackage a\n\nimport \"fmt\"\n",
            "/*\n * Copyright 2019 A\n *\n * Licensed under the Apache License, Version 2.0 (the \"License\");\n * you may not use this file except in compliance with the License.\n *\n * Unless required by applicable law, software is distributed WITHOUT WARRANTIES.\n */",
            "# This file is part of Shop.\n#\n# Shop is free software: you can redistribute it and/or modify it.\n#\n# You should have received a copy of the GNU General Public License.\n\nimport os\n",
        ] {
            assert!(is_license_header(text), "{text}");
        }
        for text in [
            "// Copyright 2020 A\n\n//! Opens the store, and keeps it open while somebody reads from it.\n",
            "const LICENSE: &str = \"MIT\";\n\nconst NAME_OF_THE_STORE_AND_ITS_OWNER: &str = \"shop\";\n",
            "import os\n",
            "",
        ] {
            assert!(!is_license_header(text), "{text}");
        }
    }
}

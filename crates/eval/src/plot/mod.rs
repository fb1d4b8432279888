//! The plots of a report, each a complete SVG element for a page.

mod budget;
mod canvas;
mod curves;
mod cut;
mod differences;
mod kept;
mod reliability;

pub(crate) use budget::budget;
pub(crate) use curves::curves;
pub use cut::cut_plot;
pub(crate) use differences::differences;
pub(crate) use kept::kept;
pub(crate) use reliability::{reliability, roc};

/// Text escaped for an element or an attribute in double quotes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Characters that XML forbids.
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text of at most `length` characters.
pub(crate) fn clipped(text: &str, length: usize) -> String {
    let text: String =
        text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect();
    match text.char_indices().nth(length) {
        Some(_) => text.chars().take(length.saturating_sub(1)).chain(['…']).collect(),
        None => text,
    }
}

/// Places labels of `height` along a line without overlap, each as near to its wanted place as the others allow, all within
/// `from..=to` if they fit. Returns the places in the order given.
pub(crate) fn spread(wanted: &[f64], height: f64, from: f64, to: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    // Runs of touching labels, each with its first place and its members. A run lies at the mean of the wanted places.
    let mut runs: Vec<(f64, Vec<usize>)> = Vec::new();
    let place = |members: &[usize]| {
        let wish = |(at, &label): (usize, &usize)| wanted[label] - at as f64 * height;
        let start = members.iter().enumerate().map(wish).sum::<f64>() / members.len() as f64;
        start.min(to - (members.len() - 1) as f64 * height).max(from)
    };
    for label in order {
        let mut run = (place(&[label]), vec![label]);
        while let Some((_, mut joined)) = runs.pop_if(|(start, members)| run.0 < *start + members.len() as f64 * height)
        {
            joined.append(&mut run.1);
            run = (place(&joined), joined);
        }
        runs.push(run);
    }
    let mut places = vec![0.0; wanted.len()];
    for (start, members) in runs {
        for (at, label) in members.into_iter().enumerate() {
            places[label] = start + at as f64 * height;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_safe_and_short() {
        assert_eq!(escape("<a href='x'>\"&\u{1}"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\u{fffd}");
        assert_eq!(clipped("abcdef", 4), "abc…");
        assert_eq!(clipped("ab\u{7}", 4), "ab\u{fffd}");
    }

    #[test]
    fn labels_that_fit_stay_where_they_are() {
        assert_eq!(spread(&[50.0, 10.0, 90.0], 10.0, 0.0, 100.0), [50.0, 10.0, 90.0]);
        assert_eq!(spread(&[50.0, 50.0], 10.0, 0.0, 100.0), [45.0, 55.0]);
        assert_eq!(spread(&[0.0, 0.0], 10.0, 0.0, 100.0), [0.0, 10.0]);
        assert_eq!(spread(&[], 10.0, 0.0, 100.0), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn labels_never_cover_each_other(wanted in prop::collection::vec(0.0f64..100.0, 1..12)) {
            let mut places = spread(&wanted, 8.0, 0.0, 100.0);
            places.sort_by(f64::total_cmp);
            prop_assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 7.999), "{places:?}");
            prop_assert!(places.iter().all(|place| (-1e-9..=100.0 + 1e-9).contains(place)), "{places:?}");
        }
    }
}

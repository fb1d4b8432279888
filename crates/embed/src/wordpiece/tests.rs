//! Equality with the reference implementation of BERT's tokenization.

use proptest::prelude::*;
use tokenizers::models::wordpiece::WordPiece as Reference;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{
    Model, NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer,
};

use super::*;

/// Texts in many scripts, and code, one a line.
const FIXTURE: &str = include_str!("../../tests/fixtures/multilingual.txt");

fn reference() -> &'static Reference {
    static SHARED: OnceLock<Reference> = OnceLock::new();
    SHARED.get_or_init(|| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, tamis_model_static::VOCABULARY).unwrap();
        Reference::from_file(file.path().to_str().unwrap()).unk_token("[UNK]".to_owned()).build().unwrap()
    })
}

/// Runs the pipeline of the reference without its added tokens, whose names are text to us.
fn reference_ids(text: &str) -> Vec<u32> {
    let mut normalized = NormalizedString::from(text);
    BertNormalizer::default().normalize(&mut normalized).unwrap();
    let mut pieces = PreTokenizedString::from(normalized.get());
    BertPreTokenizer.pre_tokenize(&mut pieces).unwrap();
    let words = pieces.get_splits(OffsetReferential::Original, OffsetType::Byte);
    words.iter().flat_map(|(word, ..)| reference().tokenize(word).unwrap()).map(|token| token.id).collect()
}

#[test]
fn the_fixture_gives_the_reference_tokens_by_lines_and_as_one_text() {
    assert!(FIXTURE.lines().count() > 60);
    for text in FIXTURE.lines().chain([FIXTURE]) {
        assert_eq!(WordPiece::uncased_bert().tokenize(text, usize::MAX), reference_ids(text), "{text}");
    }
}

#[test]
fn names_of_special_tokens_are_text() {
    let ids = WordPiece::uncased_bert().tokenize("[SEP]", usize::MAX);
    let tokens: Vec<_> = ids.iter().filter_map(|&id| WordPiece::uncased_bert().token(id)).collect();
    assert_eq!(tokens, ["[", "sep", "]"]);
}

#[test]
fn every_token_of_the_vocabulary_is_itself() {
    let tokenizer = WordPiece::uncased_bert();
    assert_eq!(tokenizer.size(), 30_522);
    for id in 0..tokenizer.size() as u32 {
        let token = tokenizer.token(id).unwrap();
        assert_eq!(tokenizer.id(token), Some(id), "{token}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn any_text_gives_the_reference_tokens(text in prop_oneof![
        "\\PC{0,60}".boxed(),
        any::<String>().boxed(),
        "([a-zA-Z_.:éÅß\u{300}\u{301}\u{f3}한字か　\u{85}\u{b}\u{ad}]{1,20}[ \t\n]?){1,8}".boxed(),
    ]) {
        prop_assert_eq!(WordPiece::uncased_bert().tokenize(&text, usize::MAX), reference_ids(&text));
    }

    #[test]
    fn a_limit_only_shortens(text in "\\PC{0,60}", limit in 0usize..40) {
        let tokenizer = WordPiece::uncased_bert();
        let mut all = tokenizer.tokenize(&text, usize::MAX);
        all.truncate(limit);
        prop_assert_eq!(tokenizer.tokenize(&text, limit), all);
    }
}

/// The letters around each character show if it joins, separates or stands alone.
#[test]
fn every_character_of_the_first_planes_gives_the_reference_tokens() {
    let characters: Vec<char> = ('\0'..='\u{1ffff}').collect();
    for block in characters.chunks(256) {
        let text: String = block.iter().flat_map(|&c| ['a', c, 'b', ' ']).collect();
        assert_eq!(WordPiece::uncased_bert().tokenize(&text, usize::MAX), reference_ids(&text), "{:?}", block[0]);
    }
}

#[test]
fn no_line_end_was_converted_on_checkout() {
    assert!(!tamis_model_static::VOCABULARY.contains('\r'), "every token would end with it; see .gitattributes");
}

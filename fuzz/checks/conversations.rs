//! A log yields sessions or an error; each session has a document, and its record reads back unchanged.

use crate::whole;
use tamis_text::{Conversation, ConversationOptions, read_conversations};

pub fn check(data: &[u8]) {
    let options = ConversationOptions { name: Some("log".into()), ..ConversationOptions::default() };
    let log = match read_conversations(data, &options) {
        Ok(log) => log,
        Err(error) => return assert!(error.to_string().len() < 4000, "{error}"),
    };
    for session in &log.conversations {
        let document = session.document(&options);
        whole::embed(&document);
        let lines = session.rendered(&options.time_zone).lines().count();
        for passage in &document.passages {
            assert!(1 <= passage.start_line && passage.start_line <= passage.end_line, "{passage:?}");
            assert!(passage.end_line as usize <= lines.max(1), "{lines} lines and {passage:?}");
            let turns = session.turns_at(passage.start_line, passage.end_line);
            assert!(turns.end <= session.turns.len(), "{turns:?} of {}", session.turns.len());
        }
        let record = serde_json::to_string(session).expect("JSON");
        assert_eq!(*session, serde_json::from_str::<Conversation>(&record).expect("its own record"), "{record}");
    }
}

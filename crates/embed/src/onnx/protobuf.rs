//! Writes the part of the protocol buffers wire format that ONNX needs.

/// The fields of one message, encoded in the order of their addition.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

const VARINT: u32 = 0;
const LENGTH_DELIMITED: u32 = 2;
const FIXED_32: u32 = 5;

impl Message {
    pub(super) fn integer(&mut self, field: u32, value: i64) {
        self.key(field, VARINT);
        // The format sign-extends a negative int64 to ten bytes.
        self.varint(value as u64);
    }

    pub(super) fn float(&mut self, field: u32, value: f32) {
        self.key(field, FIXED_32);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, LENGTH_DELIMITED);
        self.varint(value.len() as u64);
        self.bytes.extend(value);
    }

    pub(super) fn string(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    pub(super) fn message(&mut self, field: u32, value: &Message) {
        self.bytes(field, &value.bytes);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the protocol buffers encoding guide.
    #[test]
    fn fields_are_encoded_as_the_guide_says() {
        let mut message = Message::default();
        message.integer(1, 150);
        assert_eq!(message.bytes, [0x08, 0x96, 0x01]);

        let mut outer = Message::default();
        outer.message(3, &message);
        assert_eq!(outer.bytes, [0x1a, 0x03, 0x08, 0x96, 0x01]);

        let mut text = Message::default();
        text.string(2, "testing");
        assert_eq!(text.into_bytes(), [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);

        let mut negative = Message::default();
        negative.integer(1, -2);
        assert_eq!(negative.bytes, [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }
}

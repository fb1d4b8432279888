//! Writes the computation of a BERT encoder as an ONNX graph and loads it into the runtime.

use rten::{Model, ModelOptions};

use super::{Config, Weights};

/// The name of the buffer with the graph's large constants. The runtime requires this ending.
const FLOATS: &str = "floats.data";

/// Names of the model's inputs and output.
pub const INPUT_IDS: &str = "input_ids";
pub const ATTENTION_MASK: &str = "attention_mask";
pub const OUTPUT: &str = "last_hidden_state";

/// Loads a BERT encoder into the runtime. Memory holds the weights as f32.
///
/// # Errors
/// A weight is missing, or the runtime cannot load the graph.
pub fn assemble(config: &Config, weights: &Weights<'_>) -> Result<Model, String> {
    let floats = large_buffer(weights.size());
    let mut builder = Builder { graph: Graph::default(), floats, config };
    builder.build(weights)?;
    let Builder { graph, floats, .. } = builder;
    let mut options = ModelOptions::with_ops(rten::op_registry!(
        Add, Cast, Erf, Gather, Identity, LayerNormalization, MatMul, Mul, Relu, Reshape, Shape, Slice, Softmax, Sub,
        Transpose, Unsqueeze
    ));
    options.external_data(FLOATS, floats);
    options.load(graph.finish("bert")).map_err(|error| error.to_string())
}

/// Makes an empty buffer of large pages where the system has them. The first touch of tens of megabytes in pages of 4 KiB takes
/// longer than all the rest of loading.
fn large_buffer(capacity: usize) -> Vec<u8> {
    #[allow(unused_mut)]
    let mut buffer = Vec::with_capacity(capacity);
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = buffer.as_mut_ptr() as usize;
        let (first, last) = (start.next_multiple_of(PAGE), (start + capacity) / PAGE * PAGE);
        if first < last {
            // SAFETY: the range is whole pages of memory that the buffer owns, and the advice leaves their content alone. The
            // system may ignore it.
            unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
        }
    }
    buffer
}

struct Builder<'c> {
    graph: Graph,
    /// All large constants, in the order of use.
    floats: Vec<u8>,
    config: &'c Config,
}

impl Builder<'_> {
    fn build(&mut self, weights: &Weights<'_>) -> Result<(), String> {
        for input in [INPUT_IDS, ATTENTION_MASK] {
            self.graph.input(input, Element::Int64, &["batch", "tokens"]);
        }
        let mut hidden = self.embeddings(weights)?;
        let bias = self.attention_bias();
        for layer in 0..self.config.num_hidden_layers {
            hidden = self.layer(weights, &format!("encoder.layer.{layer}"), &hidden, &bias)?;
        }
        self.graph.rename(&hidden, OUTPUT);
        self.graph.output(OUTPUT, Element::Float, &["batch", "tokens", "hidden"]);
        Ok(())
    }

    fn embeddings(&mut self, weights: &Weights<'_>) -> Result<String, String> {
        let hidden = self.config.hidden_size;
        let words = weights.rows("embeddings.word_embeddings.weight", hidden)?;
        let words = self.constant(&[words.rows, hidden], &words.values);
        let words = self.graph.node("Gather", &[&words, INPUT_IDS], &[]);
        let positions = weights.positions(self.config)?;
        let positions = self.constant(&[positions.len() / hidden, hidden], &positions);
        let length =
            self.graph.node("Shape", &[INPUT_IDS], &[("start", Attribute::Int(1)), ("end", Attribute::Int(2))]);
        let zero = self.graph.integers(&[1], &[0]);
        let positions = self.graph.node("Slice", &[&positions, &zero, &length, &zero], &[]);
        let sum = self.graph.node("Add", &[&words, &positions], &[]);
        self.layer_norm(weights, "embeddings.LayerNorm", &sum)
    }

    /// Makes a bias that is zero at tokens and a large negative number at padding.
    fn attention_bias(&mut self) -> String {
        let mask = self.graph.node("Cast", &[ATTENTION_MASK], &[("to", Attribute::Int(Element::Float as i64))]);
        let axes = self.graph.integers(&[2], &[1, 2]);
        let mask = self.graph.node("Unsqueeze", &[&mask, &axes], &[]);
        let one = self.graph.scalar(1.0);
        let padding = self.graph.node("Sub", &[&one, &mask], &[]);
        let large = self.graph.scalar(-1e4);
        self.graph.node("Mul", &[&padding, &large], &[])
    }

    fn layer(&mut self, weights: &Weights<'_>, name: &str, input: &str, bias: &str) -> Result<String, String> {
        let (hidden, heads) = (self.config.hidden_size, self.config.num_attention_heads);
        let width = hidden / heads;
        let split = self.graph.integers(&[4], &[0, 0, heads as i64, width as i64]);
        let mut head = |part: &str, order: &[i64]| -> Result<String, String> {
            let flat = self.linear(weights, &format!("{name}.attention.self.{part}"), input, hidden)?.0;
            let split = self.graph.node("Reshape", &[&flat, &split], &[]);
            Ok(self.graph.node("Transpose", &[&split], &[("perm", Attribute::Ints(order))]))
        };
        let query = head("query", &[0, 2, 1, 3])?;
        let key = head("key", &[0, 2, 3, 1])?;
        let value = head("value", &[0, 2, 1, 3])?;

        let scores = self.graph.node("MatMul", &[&query, &key], &[]);
        let scale = self.graph.scalar(1.0 / (width as f32).sqrt());
        let scores = self.graph.node("Mul", &[&scores, &scale], &[]);
        let scores = self.graph.node("Add", &[&scores, bias], &[]);
        let attention = self.graph.node("Softmax", &[&scores], &[("axis", Attribute::Int(-1))]);
        let context = self.graph.node("MatMul", &[&attention, &value], &[]);
        let context = self.graph.node("Transpose", &[&context], &[("perm", Attribute::Ints(&[0, 2, 1, 3]))]);
        let join = self.graph.integers(&[3], &[0, 0, hidden as i64]);
        let context = self.graph.node("Reshape", &[&context, &join], &[]);

        let (output, _) = self.linear(weights, &format!("{name}.attention.output.dense"), &context, hidden)?;
        let sum = self.graph.node("Add", &[&output, input], &[]);
        let attended = self.layer_norm(weights, &format!("{name}.attention.output.LayerNorm"), &sum)?;

        let (inner, inner_size) = self.linear(weights, &format!("{name}.intermediate.dense"), &attended, hidden)?;
        let inner = self.activation(&inner);
        let (output, _) = self.linear(weights, &format!("{name}.output.dense"), &inner, inner_size)?;
        let sum = self.graph.node("Add", &[&output, &attended], &[]);
        self.layer_norm(weights, &format!("{name}.output.LayerNorm"), &sum)
    }

    /// Computes `input · weight + bias`; returns the value's name and its size.
    fn linear(
        &mut self,
        weights: &Weights<'_>,
        name: &str,
        input: &str,
        inputs: usize,
    ) -> Result<(String, usize), String> {
        let offset = self.floats.len();
        let outputs = weights.linear(name, inputs, &mut self.floats)?;
        let length = self.floats.len() - offset;
        let weight = self.graph.external(Element::Float, &[inputs, outputs], FLOATS, offset, length);
        let product = self.graph.node("MatMul", &[input, &weight], &[]);
        let bias = weights.vector(&format!("{name}.bias"), outputs)?;
        let bias = self.constant(&[outputs], &bias);
        Ok((self.graph.node("Add", &[&product, &bias], &[]), outputs))
    }

    fn layer_norm(&mut self, weights: &Weights<'_>, name: &str, input: &str) -> Result<String, String> {
        let hidden = self.config.hidden_size;
        let scale = weights.vector(&format!("{name}.weight"), hidden)?;
        let bias = weights.vector(&format!("{name}.bias"), hidden)?;
        let scale = self.constant(&[hidden], &scale);
        let bias = self.constant(&[hidden], &bias);
        let attributes = [("axis", Attribute::Int(-1)), ("epsilon", Attribute::Float(self.config.layer_norm_eps))];
        Ok(self.graph.node("LayerNormalization", &[input, &scale, &bias], &attributes))
    }

    /// Applies the activation. GELU is written with the error function, the form that the runtime recognises and fuses.
    fn activation(&mut self, input: &str) -> String {
        if self.config.hidden_act == "relu" {
            return self.graph.node("Relu", &[input], &[]);
        }
        let root = self.graph.scalar(std::f32::consts::FRAC_1_SQRT_2);
        let (one, half) = (self.graph.scalar(1.0), self.graph.scalar(0.5));
        let scaled = self.graph.node("Mul", &[input, &root], &[]);
        let error = self.graph.node("Erf", &[&scaled], &[]);
        let shifted = self.graph.node("Add", &[&error, &one], &[]);
        let product = self.graph.node("Mul", &[input, &shifted], &[]);
        self.graph.node("Mul", &[&product, &half], &[])
    }

    fn constant(&mut self, shape: &[usize], values: &[f32]) -> String {
        let offset = self.floats.len();
        self.floats.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.graph.external(Element::Float, shape, FLOATS, offset, values.len() * 4)
    }
}

// Writes ONNX graphs for the runtime to load: nodes, attributes, small constants in the file and large ones in a separate
// buffer.
//
// The runtime takes a model as ONNX alone, while a BERT checkpoint in safetensors is weights without a graph.

/// Element types, numbered as in ONNX's `TensorProto.DataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    Float = 1,
    Int64 = 7,
}

/// The value of a node's attribute.
#[derive(Debug, Clone, Copy)]
pub enum Attribute<'a> {
    Int(i64),
    Float(f32),
    Ints(&'a [i64]),
}

/// A graph under construction. Every method that makes a value returns its name, for use as a later node's input.
#[derive(Debug, Default)]
pub struct Graph {
    message: Message,
    names: usize,
}

const NODE: u32 = 1;
const GRAPH_NAME: u32 = 2;
const INITIALIZER: u32 = 5;
const INPUT: u32 = 11;
const OUTPUT_FIELD: u32 = 12;

impl Graph {
    /// Adds a node with one output.
    pub fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[(&str, Attribute<'_>)]) -> String {
        let output = self.name(operator);
        let mut node = Message::default();
        for input in inputs {
            node.string(1, input);
        }
        node.string(2, &output);
        node.string(3, &output);
        node.string(4, operator);
        for &(name, value) in attributes {
            let mut attribute = Message::default();
            attribute.string(1, name);
            match value {
                Attribute::Float(value) => {
                    attribute.float(2, value);
                    attribute.integer(20, 1);
                }
                Attribute::Int(value) => {
                    attribute.integer(3, value);
                    attribute.integer(20, 2);
                }
                Attribute::Ints(values) => {
                    for &value in values {
                        attribute.integer(8, value);
                    }
                    attribute.integer(20, 7);
                }
            }
            node.message(5, &attribute);
        }
        self.message.message(NODE, &node);
        output
    }

    /// Renames a value, so that the model can return it by that name.
    pub fn rename(&mut self, value: &str, name: &str) {
        let mut node = Message::default();
        node.string(1, value);
        node.string(2, name);
        node.string(3, name);
        node.string(4, "Identity");
        self.message.message(NODE, &node);
    }

    /// Adds a constant of 64-bit integers; a scalar when `shape` is empty.
    pub fn integers(&mut self, shape: &[usize], values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.inline(Element::Int64, shape, &bytes)
    }

    /// Adds a constant scalar.
    pub fn scalar(&mut self, value: f32) -> String {
        self.inline(Element::Float, &[], &value.to_le_bytes())
    }

    fn inline(&mut self, element: Element, shape: &[usize], bytes: &[u8]) -> String {
        let name = self.name("constant");
        let mut tensor = tensor(&name, element, shape);
        tensor.bytes(9, bytes);
        self.message.message(INITIALIZER, &tensor);
        name
    }

    /// Adds a constant of `length` bytes at `offset` in the buffer called `location`.
    pub fn external(
        &mut self,
        element: Element,
        shape: &[usize],
        location: &str,
        offset: usize,
        length: usize,
    ) -> String {
        let name = self.name("weight");
        let mut tensor = tensor(&name, element, shape);
        for (key, value) in [("location", location), ("offset", &offset.to_string()), ("length", &length.to_string())] {
            let mut entry = Message::default();
            entry.string(1, key);
            entry.string(2, value);
            tensor.message(13, &entry);
        }
        tensor.integer(14, 1);
        self.message.message(INITIALIZER, &tensor);
        name
    }

    /// Declares an input of the model, with a name for each dimension.
    pub fn input(&mut self, name: &str, element: Element, dimensions: &[&str]) {
        let value = value_info(name, element, dimensions);
        self.message.message(INPUT, &value);
    }

    /// Declares an output of the model, with a name for each dimension.
    pub fn output(&mut self, name: &str, element: Element, dimensions: &[&str]) {
        let value = value_info(name, element, dimensions);
        self.message.message(OUTPUT_FIELD, &value);
    }

    /// Returns the bytes of the whole model, of operator set 17.
    pub fn finish(mut self, name: &str) -> Vec<u8> {
        self.message.string(GRAPH_NAME, name);
        let mut operators = Message::default();
        operators.string(1, "");
        operators.integer(2, 17);
        let mut model = Message::default();
        model.integer(1, 8);
        model.string(2, "tamis");
        model.message(7, &self.message);
        model.message(8, &operators);
        model.into_bytes()
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}_{}", self.names)
    }
}

fn tensor(name: &str, element: Element, shape: &[usize]) -> Message {
    let mut tensor = Message::default();
    for &size in shape {
        tensor.integer(1, size as i64);
    }
    tensor.integer(2, element as i64);
    tensor.string(8, name);
    tensor
}

fn value_info(name: &str, element: Element, dimensions: &[&str]) -> Message {
    let mut shape = Message::default();
    for dimension in dimensions {
        let mut size = Message::default();
        size.string(2, dimension);
        shape.message(1, &size);
    }
    let mut tensor_type = Message::default();
    tensor_type.integer(1, element as i64);
    tensor_type.message(2, &shape);
    let mut value_type = Message::default();
    value_type.message(1, &tensor_type);
    let mut value = Message::default();
    value.string(1, name);
    value.message(2, &value_type);
    value
}

// Writes the part of the protocol buffers wire format that ONNX needs.

/// The fields of one message, encoded in the order of their addition.
#[derive(Debug, Default)]
pub struct Message {
    bytes: Vec<u8>,
}

const VARINT: u32 = 0;
const LENGTH_DELIMITED: u32 = 2;
const FIXED_32: u32 = 5;

impl Message {
    pub fn integer(&mut self, field: u32, value: i64) {
        self.key(field, VARINT);
        // The format sign-extends a negative int64 to ten bytes.
        self.varint(value as u64);
    }

    pub fn float(&mut self, field: u32, value: f32) {
        self.key(field, FIXED_32);
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, LENGTH_DELIMITED);
        self.varint(value.len() as u64);
        self.bytes.extend(value);
    }

    pub fn string(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    pub fn message(&mut self, field: u32, value: &Message) {
        self.bytes(field, &value.bytes);
    }

    pub fn into_bytes(self) -> Vec<u8> {
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
    use rten::{Model, ModelOptions, Value};
    use rten_tensor::NdTensor;
    use rten_tensor::prelude::*;

    #[test]
    fn the_runtime_computes_what_the_graph_says() {
        let mut graph = Graph::default();
        graph.input("x", Element::Float, &["n"]);
        let two = graph.scalar(2.0);
        let weight = graph.external(Element::Float, &[2], "weights.data", 4, 8);
        let doubled = graph.node("Mul", &["x", &two], &[]);
        let sum = graph.node("Add", &[&doubled, &weight], &[]);
        let last = graph.node("Concat", &[&sum, "x"], &[("axis", Attribute::Int(0))]);
        graph.rename(&last, "y");
        graph.output("y", Element::Float, &["m"]);

        let weights: Vec<u8> = [9.0f32, 10.0, 20.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut options = ModelOptions::with_all_ops();
        options.external_data("weights.data", weights);
        let model = options.load(graph.finish("test")).unwrap();
        assert_eq!(run(&model, vec![1.0, 3.0]), [12.0, 26.0, 1.0, 3.0]);
    }

    fn run(model: &Model, x: Vec<f32>) -> Vec<f32> {
        let input = model.node_id("x").unwrap();
        let output = model.node_id("y").unwrap();
        let x = Value::from(NdTensor::from(x));
        let [y] = model.run_n(vec![(input, x.into())], [output], None).unwrap();
        y.into_tensor::<f32>().unwrap().to_vec()
    }

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

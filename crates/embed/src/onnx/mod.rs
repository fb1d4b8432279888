//! Writes ONNX graphs for the runtime to load: nodes, attributes, small constants in the file and large ones in a separate
//! buffer.
//!
//! The runtime takes a model as ONNX alone, while a BERT checkpoint in safetensors is weights without a graph.

mod protobuf;

use protobuf::Message;

/// Element types, numbered as in ONNX's `TensorProto.DataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Float = 1,
    Int64 = 7,
}

/// The value of a node's attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Attribute<'a> {
    Int(i64),
    Float(f32),
    Ints(&'a [i64]),
}

/// A graph under construction. Every method that makes a value returns its name, for use as a later node's input.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    message: Message,
    names: usize,
}

const NODE: u32 = 1;
const GRAPH_NAME: u32 = 2;
const INITIALIZER: u32 = 5;
const INPUT: u32 = 11;
const OUTPUT: u32 = 12;

impl Graph {
    /// Adds a node with one output.
    pub(crate) fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[(&str, Attribute<'_>)]) -> String {
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
    pub(crate) fn rename(&mut self, value: &str, name: &str) {
        let mut node = Message::default();
        node.string(1, value);
        node.string(2, name);
        node.string(3, name);
        node.string(4, "Identity");
        self.message.message(NODE, &node);
    }

    /// Adds a constant of 64-bit integers; a scalar when `shape` is empty.
    pub(crate) fn integers(&mut self, shape: &[usize], values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.inline(Element::Int64, shape, &bytes)
    }

    /// Adds a constant scalar.
    pub(crate) fn scalar(&mut self, value: f32) -> String {
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
    pub(crate) fn external(
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
    pub(crate) fn input(&mut self, name: &str, element: Element, dimensions: &[&str]) {
        let value = value_info(name, element, dimensions);
        self.message.message(INPUT, &value);
    }

    /// Declares an output of the model, with a name for each dimension.
    pub(crate) fn output(&mut self, name: &str, element: Element, dimensions: &[&str]) {
        let value = value_info(name, element, dimensions);
        self.message.message(OUTPUT, &value);
    }

    /// Returns the bytes of the whole model, of operator set 17.
    pub(crate) fn finish(mut self, name: &str) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use rten::{Model, ModelOptions, Value};
    use rten_tensor::NdTensor;
    use rten_tensor::prelude::*;

    use super::*;

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
}

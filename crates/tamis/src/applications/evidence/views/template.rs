//! Renders a view's SQL for the parameters that are given.
//!
//! A template cannot put a value into the SQL. It only knows whether a parameter is given, and everything that it
//! prints goes through a formatter that rejects it. Since a template is a function of a few booleans, all its texts are
//! rendered on loading, so a template that prints is rejected before it is used.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use tamis_store::SqlValue;

use super::{Header, ParameterType, ViewParameter, parameters_of};
use crate::dates::moment;

/// A usable view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    /// The file's name in messages.
    pub name: String,
    pub header: Header,
    source: String,
}

impl Template {
    /// Reads a view and renders every text that it can produce.
    ///
    /// # Errors
    /// The problem, in one line, with its position.
    pub fn load(name: &str, source: &str) -> Result<Template, String> {
        let header = Header::parse(source).map_err(|error| format!("{name}: {error}"))?;
        let mut template = Template { name: name.to_owned(), header, source: source.to_owned() };
        let optional: Vec<String> = template.optional().map(|parameter| parameter.name.clone()).collect();
        for given in 0..1_u32 << optional.len() {
            let given = optional.iter().enumerate().filter(|(bit, _)| given & (1 << bit) != 0);
            let given: BTreeSet<&str> = given.map(|(_, name)| name.as_str()).collect();
            let text = template.text(&given)?;
            let names = parameters_of(&text).map_err(|error| format!("{name}: {error}"))?;
            let known = |name: &&str| template.header.parameters.iter().any(|parameter| parameter.name == *name);
            if let Some(unknown) = names.iter().find(|name| !known(name)) {
                return Err(format!("{name}: :{unknown} is not among the parameters that the view says it has"));
            }
            if given.is_empty() {
                let required: Vec<String> = names.into_iter().map(str::to_owned).collect();
                for parameter in &mut template.header.parameters {
                    parameter.required = parameter.default.is_none() && required.contains(&parameter.name);
                }
            }
        }
        Ok(template)
    }

    /// The optional parameters: those without a default.
    fn optional(&self) -> impl Iterator<Item = &ViewParameter> {
        self.header.parameters.iter().filter(|parameter| parameter.default.is_none())
    }

    /// Renders the statement for these given parameters, besides those with a default.
    ///
    /// # Errors
    /// The template is malformed, names an unknown parameter, or prints something.
    pub fn text(&self, given: &BTreeSet<&str>) -> Result<String, String> {
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(|_, _, _| {
            let refused = "a template may ask whether a parameter is given ({% if name %}) and must print nothing ({{ … }}); \
                           write :name, which is bound";
            Err(Error::new(ErrorKind::InvalidOperation, refused))
        });
        let is_given =
            |parameter: &ViewParameter| parameter.default.is_some() || given.contains(parameter.name.as_str());
        let parameters = self.header.parameters.iter();
        let known: BTreeMap<String, bool> =
            parameters.map(|parameter| (parameter.name.clone(), is_given(parameter))).collect();
        environment.render_named_str(&self.name, &self.source, Value::from(known)).map_err(|error| {
            let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            format!("{}: line {}: {what}", self.name, error.line().unwrap_or(1))
        })
    }
}

// Converts the values given for a view's parameters.

/// Converts a value for the statement; the error names the values allowed. A number may be given as text, as on a
/// command line.
pub(crate) fn value_of(parameter: &ViewParameter, given: &SqlValue, now: Timestamp) -> Result<SqlValue, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match (parameter.kind, given) {
        (ParameterType::Text, SqlValue::Text(text)) => Ok(SqlValue::Text(text.clone())),
        (ParameterType::Text, SqlValue::Integer(number)) => Ok(SqlValue::Text(number.to_string())),
        (ParameterType::Text, _) => Err("a text".to_owned()),
        (ParameterType::Integer, SqlValue::Integer(number)) => Ok(SqlValue::Integer(*number)),
        (ParameterType::Integer, SqlValue::Text(text)) => {
            text.trim().parse().map(SqlValue::Integer).map_err(|_| "a whole number".to_owned())
        }
        (ParameterType::Integer, _) => Err("a whole number".to_owned()),
        (ParameterType::Number, SqlValue::Integer(number)) => Ok(SqlValue::Real(*number as f64)),
        (ParameterType::Number, SqlValue::Real(number)) if number.is_finite() => Ok(SqlValue::Real(*number)),
        (ParameterType::Number, SqlValue::Text(text)) => {
            number(text).map(SqlValue::Real).ok_or_else(|| "a number".to_owned())
        }
        (ParameterType::Number, _) => Err("a number".to_owned()),
        (ParameterType::Time, SqlValue::Text(text)) => {
            let moment = moment(text, &now.to_zoned(TimeZone::UTC)).map_err(|error| format!("a time ({error})"))?;
            Ok(SqlValue::Text(moment.to_string()))
        }
        (ParameterType::Time, _) => Err("a date or a time".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "{#\nanswers = \"a\"\nparameters = [\n  { name = \"task_id\", type = \"text\", is = \"t\" },\n  { name = \"years\", type = \"integer\", default = 3, is = \"y\" },\n]\n#}\n";

    fn load(body: &str) -> Result<Template, String> {
        Template::load("own.sql.j2", &format!("{HEADER}{body}"))
    }

    #[test]
    fn trap_unfit_templates_are_refused_with_their_line() {
        for splicing in [
            "SELECT *\nFROM claims WHERE task_id = '{{ task_id }}'",
            "SELECT *\nFROM claims LIMIT {{ years }}",
            "SELECT *\nFROM {{ \"claims\" }}",
            "SELECT *\n{% if task_id %}WHERE id = {{ task_id }}{% endif %}",
            "SELECT *\n{% if not task_id %}{{ 1 }}{% endif %}",
            "SELECT *\n{% set x = task_id %}{{ x }}",
            "SELECT *\n{% for x in [task_id] %}{{ x }}{% endfor %}",
            "SELECT *\n{% with x = task_id %}{{ x ~ 'y' }}{% endwith %}",
        ] {
            let error = load(splicing).expect_err(splicing);
            assert!(error.starts_with("own.sql.j2: line 9: a template may ask"), "{splicing}: {error}");
        }

        for other in [
            "{% include task_id %}", "{% macro m() %}x{% endmacro %}", "{% if task_id|upper %}x{% endif %}",
            "{% if years is defined %}x{% endif %}", "{% if range(3) %}x{% endif %}",
        ] {
            assert!(load(other).is_err(), "{other}");
        }
        let error = load("SELECT 1\n{% if tsak_id %}x{% endif %}").expect_err("no such parameter");
        assert!(error.starts_with("own.sql.j2: line 9"), "{error}");
        let error = load("SELECT 1\n{% if task_id %}").expect_err("never closed");
        assert!(error.starts_with("own.sql.j2: line "), "{error}");
    }

    #[test]
    fn parameters_are_whether_they_are_given_or_required() {
        let template =
            load("SELECT :years{% if task_id %}, :task_id{% elif years %}, 2{% else %}, 3{% endif %}").expect("fit");
        assert_eq!(template.text(&BTreeSet::new()).expect("a text").trim(), "SELECT :years, 2");
        assert_eq!(template.text(&BTreeSet::from(["task_id"])).expect("a text").trim(), "SELECT :years, :task_id");
        assert!(template.header.parameters.iter().all(|parameter| !parameter.required));

        let template = load("SELECT :task_id").expect("fit");
        assert!(template.header.parameters[0].required);
        let error = load("SELECT 1{% if task_id %} WHERE x = :task{% endif %}").expect_err("no such parameter");
        assert_eq!(error, "own.sql.j2: :task is not among the parameters that the view says it has");
        assert!(load("SELECT ?1").expect_err("by position").contains("written :name"));
    }

    #[test]
    fn values_are_of_their_type() {
        let now = "2026-11-22T12:00:00Z".parse().expect("a time");
        let value = |kind, given: SqlValue| {
            let parameter = ViewParameter {
                name: "".into(),
                kind,
                default: None,
                required: false,
                values: Vec::new(),
                meaning: "".into(),
            };
            value_of(&parameter, &given, now)
        };
        let text = |text: &str| SqlValue::Text(text.to_owned());
        use ParameterType::{Integer, Number, Text, Time};
        assert_eq!(value(Text, text("' OR 1=1 --")), Ok(text("' OR 1=1 --")));
        assert_eq!(value(Text, SqlValue::Integer(7)), Ok(text("7")));
        assert_eq!(value(Integer, text("7")), Ok(SqlValue::Integer(7)));
        assert_eq!(value(Number, SqlValue::Integer(1)), Ok(SqlValue::Real(1.0)));
        assert_eq!(value(Number, text("0.25")), Ok(SqlValue::Real(0.25)));
        assert_eq!(value(Time, text("now")), Ok(text("2026-11-22T12:00:00Z")));
        assert_eq!(value(Time, text("2024-06-30")), Ok(text("2024-06-30T00:00:00Z")));
        for (kind, given) in [
            (Text, SqlValue::Real(0.5)),
            (Integer, SqlValue::Real(0.5)),
            (Integer, text("seven")),
            (Number, text("NaN")),
            (Number, SqlValue::Real(f64::INFINITY)),
            (Time, text("soon")),
            (Time, SqlValue::Integer(2024)),
        ] {
            assert!(value(kind, given.clone()).is_err(), "{kind:?} {given:?}");
        }
    }
}

//! The rule of distributed tables: a statement names the namespaces of every distributed table in it.
//!
//! A table in a statement is named if its column `namespace` equals a value, is one of a list of values, or equals the column of a
//! table that is named, also across subqueries. It is decided on the syntax tree, as clauses "this is named if all of those are".

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CopySource, CreateView, Distinct, Expr, FromTable, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, GroupByExpr, InTarget, Join, JoinConstraint, JoinOperator, ObjectName, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, TableObject, TableWithJoins, UpdateTableFromKind, Visit, Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::exceptions;
use super::tables::{COLUMN, DISTRIBUTED};

/// A statement, with the distributed tables whose namespaces it does not name, and the reason why several nodes could not answer it.
pub type Judged = (String, Vec<String>, Option<String>);

/// Judges the statements of a text.
///
/// # Errors
/// A statement cannot be read.
pub fn unnamed(text: &str) -> Result<Vec<Judged>, String> {
    let parsed = parsed(text)?.into_iter();
    parsed.map(|(text, statement)| Ok((text, Analysis::of(&statement)?, exceptions::refused(&statement)))).collect()
}

/// The statements of a text that have rows.
///
/// # Errors
/// A statement cannot be read.
pub fn parsed(text: &str) -> Result<Vec<(String, Statement)>, String> {
    let dialect = PostgreSqlDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize().map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for tokens in tokens.split(|token| *token == Token::SemiColon) {
        let tokens = without_key_locks(tokens);
        let first = tokens.iter().find(|token| !matches!(token, Token::Whitespace(_)));
        let Some(Token::Word(first)) = first else { continue };
        let reads_or_writes = match first.keyword {
            Keyword::SELECT | Keyword::INSERT | Keyword::UPDATE | Keyword::DELETE | Keyword::WITH | Keyword::COPY => {
                true
            }
            Keyword::CREATE => tokens.iter().take(4).any(|token| is(token, Keyword::VIEW)),
            // It has no rows of its own: tables, rights, settings and transactions.
            _ => false,
        };
        if !reads_or_writes {
            continue;
        }
        let statement: String = tokens.iter().map(ToString::to_string).collect();
        let parsed = Parser::new(&dialect).with_tokens(tokens).parse_statement();
        let parsed = parsed.map_err(|error| format!("{error}: {statement}"))?;
        found.push((statement, parsed));
    }
    Ok(found)
}

fn is(token: &Token, keyword: Keyword) -> bool {
    matches!(token, Token::Word(word) if word.keyword == keyword)
}

/// The parser knows two of the four locks of rows, which makes no difference here. It does not know barriers of views.
fn without_key_locks(tokens: &[Token]) -> Vec<Token> {
    let words = |token: &&Token| !matches!(token, Token::Whitespace(_));
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for (place, token) in tokens.iter().enumerate() {
        let before = tokens[..place].iter().rev().find(words);
        let after = tokens[place + 1..].iter().find(words);
        let is_lock = match token {
            token if is(token, Keyword::NO) => before.is_some_and(|token| is(token, Keyword::FOR)),
            token if is(token, Keyword::KEY) => {
                after.is_some_and(|token| is(token, Keyword::UPDATE) || is(token, Keyword::SHARE))
            }
            _ => false,
        };
        if !is_lock {
            kept.push(token.clone());
        }
    }
    kept
}

/// A column `namespace` in a statement.
type Node = usize;

/// A relation in a FROM clause, and its column `namespace` if it has one.
#[derive(Debug, Clone)]
struct Relation {
    name: String,
    node: Option<Node>,
}

/// What names in a query mean: its relations and those of the queries around it, and common table expressions.
#[derive(Debug, Clone, Default)]
struct Scope {
    /// The innermost query last.
    frames: Vec<Vec<Relation>>,
    expressions: HashMap<String, Option<Node>>,
}

#[derive(Debug, Default)]
struct Analysis {
    nodes: usize,
    /// A node is named if all of these are.
    clauses: Vec<(Node, Vec<Node>)>,
    /// The uses of distributed tables.
    uses: Vec<(String, Node)>,
    /// What is not understood.
    unknown: Option<String>,
}

impl Analysis {
    fn of(statement: &Statement) -> Result<Vec<String>, String> {
        let mut analysis = Analysis::default();
        analysis.statement(statement, &Scope::default());
        if let Some(unknown) = analysis.unknown {
            return Err(format!("not understood: {unknown}"));
        }
        let mut functions = Functions::default();
        let _ = statement.visit(&mut functions);
        let changes = matches!(statement, Statement::Update(_) | Statement::Delete(_)) && !analysis.uses.is_empty();
        if changes && let Some(name) = functions.0.iter().find(|name| VOLATILE.contains(&name.as_str())) {
            return Err(format!("{name}() changes within a statement that changes a distributed table: {statement}"));
        }
        let mut named = vec![false; analysis.nodes];
        loop {
            let news: Vec<Node> = analysis
                .clauses
                .iter()
                .filter(|(head, body)| !named[*head] && body.iter().all(|node| named[*node]))
                .map(|(head, _)| *head)
                .collect();
            if news.is_empty() {
                break;
            }
            news.into_iter().for_each(|node| named[node] = true);
        }
        Ok(analysis.uses.into_iter().filter(|(_, node)| !named[*node]).map(|(table, _)| table).collect())
    }

    fn node(&mut self) -> Node {
        self.nodes += 1;
        self.nodes - 1
    }

    fn is_named(&mut self, node: Node) {
        self.clauses.push((node, Vec::new()));
    }

    fn statement(&mut self, statement: &Statement, scope: &Scope) {
        match statement {
            Statement::Query(query) => {
                self.query(query, scope);
            }
            Statement::CreateView(CreateView { query, .. }) => {
                self.query(query, scope);
            }
            Statement::Insert(insert) => {
                let TableObject::TableName(table) = &insert.table else {
                    self.unknown = Some(statement.to_string());
                    return;
                };
                let place = insert.columns.iter().position(|column| last(column) == COLUMN);
                let table = last(table);
                let node = self.table(&table);
                if let (Some(node), Some(source)) = (node, &insert.source) {
                    self.inserted(node, source, place.unwrap_or(0), scope);
                } else if let Some(source) = &insert.source {
                    self.query(source, scope);
                }
            }
            Statement::Update(update) => {
                let mut from = vec![update.table.clone()];
                if let Some(UpdateTableFromKind::AfterSet(more) | UpdateTableFromKind::BeforeSet(more)) = &update.from {
                    from.extend(more.iter().cloned());
                }
                let scope = self.from(&from, scope);
                self.condition(update.selection.as_ref(), &scope);
                for assignment in &update.assignments {
                    self.subqueries(assignment, &scope);
                }
            }
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                let mut from = from.clone();
                from.extend(delete.using.iter().flatten().cloned());
                let scope = self.from(&from, scope);
                self.condition(delete.selection.as_ref(), &scope);
            }
            Statement::Copy { source: CopySource::Table { table_name, columns }, to: false, .. } => {
                // Each row has its own.
                let node = self.table(&last(table_name));
                if let Some(node) = node.filter(|_| columns.iter().any(|column| column.value == COLUMN)) {
                    self.is_named(node);
                }
            }
            other => self.unknown = Some(other.to_string()),
        }
    }

    /// The use of a table; `None` if it is not distributed.
    fn table(&mut self, name: &str) -> Option<Node> {
        DISTRIBUTED.contains(&name).then(|| {
            let node = self.node();
            self.uses.push((name.to_owned(), node));
            node
        })
    }

    /// Rows that a query gives to a table, whose namespace is the column at this place.
    fn inserted(&mut self, node: Node, source: &Query, place: usize, scope: &Scope) {
        match &*source.body {
            SetExpr::Values(values) => {
                if values.rows.iter().all(|row| row.content.get(place).is_some_and(is_value)) {
                    self.is_named(node);
                }
            }
            _ => {
                if let Some(Some(column)) = self.query_at(source, scope, Some(place)) {
                    self.clauses.push((node, vec![column]));
                }
            }
        }
    }

    /// Reads a query, and returns its column `namespace`.
    fn query(&mut self, query: &Query, scope: &Scope) -> Option<Node> {
        self.query_at(query, scope, None).flatten()
    }

    /// Reads a query, and returns the node of its column `namespace`, or of the one at a place.
    #[expect(clippy::option_option, reason = "a column without a node is another answer than no such column")]
    fn query_at(&mut self, query: &Query, scope: &Scope, place: Option<usize>) -> Option<Option<Node>> {
        let mut scope = scope.clone();
        for expression in query.with.iter().flat_map(|with| &with.cte_tables) {
            let node = self.query(&expression.query, &scope);
            scope.expressions.insert(expression.alias.name.value.clone(), node);
        }
        let node = self.body(&query.body, &scope, place);
        // Orders and limits of this program have no subqueries; one that has is looked into without its tables.
        if let Some(order) = &query.order_by {
            self.subqueries(order, &scope);
        }
        if let Some(limit) = &query.limit_clause {
            self.subqueries(limit, &scope);
        }
        Some(node)
    }

    fn body(&mut self, body: &SetExpr, scope: &Scope, place: Option<usize>) -> Option<Node> {
        match body {
            SetExpr::Select(select) => self.select(select, scope, place),
            SetExpr::Query(query) => self.query_at(query, scope, place).flatten(),
            SetExpr::SetOperation { left, right, .. } => {
                let (left, right) = (self.body(left, scope, place), self.body(right, scope, place));
                let node = self.node();
                self.clauses.push((node, vec![left?, right?]));
                Some(node)
            }
            SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement) => {
                self.statement(statement, scope);
                None
            }
            SetExpr::Values(values) => {
                self.subqueries(values, scope);
                None
            }
            other => {
                self.unknown = Some(other.to_string());
                None
            }
        }
    }

    fn select(&mut self, select: &Select, scope: &Scope, place: Option<usize>) -> Option<Node> {
        let scope = self.from(&select.from, scope);
        self.condition(select.selection.as_ref(), &scope);
        for item in &select.projection {
            self.subqueries(item, &scope);
        }
        if let Some(having) = &select.having {
            self.subqueries(having, &scope);
        }
        if let Some(Distinct::On(by)) = &select.distinct {
            self.subqueries(by, &scope);
        }
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            self.subqueries(by, &scope);
        }
        self.output(select, &scope, place)
    }

    /// The node of a query's column.
    fn output(&mut self, select: &Select, scope: &Scope, place: Option<usize>) -> Option<Node> {
        let expression = |item: &'_ SelectItem| match item {
            SelectItem::UnnamedExpr(expr) => Some((column_of(expr), expr.clone())),
            SelectItem::ExprWithAlias { expr, alias } => Some((Some(alias.value.clone()), expr.clone())),
            _ => None,
        };
        let found = match place {
            Some(place) => select.projection.get(place).and_then(expression),
            None => select.projection.iter().filter_map(expression).find(|(name, _)| name.as_deref() == Some(COLUMN)),
        };
        match found {
            Some((_, expr)) if is_value(&expr) => {
                let node = self.node();
                self.is_named(node);
                Some(node)
            }
            Some((_, expr)) => resolve(&expr, scope).map(|(node, _)| node),
            // A star gives the columns of what it selects from.
            None if place.is_none() && select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_))) => {
                scope.frames.last()?.iter().find_map(|relation| relation.node)
            }
            None => None,
        }
    }

    /// Adds the relations of a FROM clause to a scope.
    fn from(&mut self, from: &[TableWithJoins], scope: &Scope) -> Scope {
        let mut scope = scope.clone();
        scope.frames.push(Vec::new());
        for table in from {
            self.factor(&table.relation, &mut scope);
            for join in &table.joins {
                self.join(join, &mut scope);
            }
        }
        scope
    }

    fn join(&mut self, join: &Join, scope: &mut Scope) {
        let before: Vec<Relation> = scope.frames.last().cloned().unwrap_or_default();
        self.factor(&join.relation, scope);
        let (constraint, is_inner) = match &join.join_operator {
            JoinOperator::Join(on) | JoinOperator::Inner(on) | JoinOperator::CrossJoin(on) => (on, true),
            JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (on, false),
            // Neither side restricts the other.
            JoinOperator::FullOuter(on) => {
                if let JoinConstraint::On(on) = on {
                    self.subqueries(on, scope);
                }
                return;
            }
            other => {
                self.unknown = Some(format!("{other:?}"));
                return;
            }
        };
        match constraint {
            JoinConstraint::On(on) if is_inner => self.condition(Some(on), scope),
            JoinConstraint::On(on) => {
                self.subqueries(on, scope);
                // The rows of the left side stay whatever the right one has.
                let right: Vec<Node> = scope
                    .frames
                    .last()
                    .into_iter()
                    .flatten()
                    .skip(before.len())
                    .filter_map(|relation| relation.node)
                    .collect();
                let mut inner = Analysis { nodes: self.nodes, ..Analysis::default() };
                inner.conjuncts(on, scope);
                self.nodes = inner.nodes;
                self.clauses.extend(inner.clauses.into_iter().filter(|(head, _)| right.contains(head)));
            }
            JoinConstraint::Using(columns) if columns.iter().any(|column| last(column) == COLUMN) => {
                let left = before.iter().find_map(|relation| relation.node);
                let right = scope.frames.last().and_then(|frame| frame.last()).and_then(|relation| relation.node);
                if let (Some(left), Some(right)) = (left, right) {
                    self.clauses.push((right, vec![left]));
                    if is_inner {
                        self.clauses.push((left, vec![right]));
                    }
                }
            }
            JoinConstraint::Using(_) | JoinConstraint::None => {}
            other => self.unknown = Some(format!("{other:?}")),
        }
    }

    /// Adds a relation to the innermost frame. Subqueries see the relations before them, as if all were lateral.
    fn factor(&mut self, factor: &TableFactor, scope: &mut Scope) {
        let relation = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let table = last(name);
                let node = match scope.expressions.get(&table) {
                    Some(node) => *node,
                    None => self.table(&table),
                };
                Relation { name: alias.as_ref().map_or(table, |alias| alias.name.value.clone()), node }
            }
            TableFactor::Derived { subquery, alias, .. } => {
                let node = self.query(subquery, scope);
                Relation { name: alias.as_ref().map(|alias| alias.name.value.clone()).unwrap_or_default(), node }
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.factor(&table_with_joins.relation, scope);
                for join in &table_with_joins.joins {
                    self.join(join, scope);
                }
                return;
            }
            TableFactor::Table { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::TableFunction { alias, .. } => {
                Relation { name: alias.as_ref().map(|alias| alias.name.value.clone()).unwrap_or_default(), node: None }
            }
            other => {
                self.unknown = Some(other.to_string());
                return;
            }
        };
        if let Some(frame) = scope.frames.last_mut() {
            frame.push(relation);
        }
    }

    /// A condition that holds for every row.
    fn condition(&mut self, condition: Option<&Expr>, scope: &Scope) {
        let Some(condition) = condition else { return };
        self.subqueries(condition, scope);
        self.conjuncts(condition, scope);
    }

    fn conjuncts(&mut self, condition: &Expr, scope: &Scope) {
        match condition {
            Expr::Nested(inner) => self.conjuncts(inner, scope),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.conjuncts(left, scope);
                self.conjuncts(right, scope);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                match (resolve(left, scope), resolve(right, scope)) {
                    (Some((left, left_depth)), Some((right, right_depth))) => {
                        // A subquery does not restrict the query around it.
                        if left_depth >= right_depth {
                            self.clauses.push((left, vec![right]));
                        }
                        if right_depth >= left_depth {
                            self.clauses.push((right, vec![left]));
                        }
                    }
                    (Some((node, depth)), None) if is_value(right) => self.restricted(node, depth, scope),
                    (None, Some((node, depth))) if is_value(left) => self.restricted(node, depth, scope),
                    _ => {}
                }
            }
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } if is_value(right) => {
                if let Some((node, depth)) = resolve(left, scope) {
                    self.restricted(node, depth, scope);
                }
            }
            Expr::In { expr, target: InTarget::List(list), negated: false, .. } if list.iter().all(is_value) => {
                if let Some((node, depth)) = resolve(expr, scope) {
                    self.restricted(node, depth, scope);
                }
            }
            Expr::In { expr, target: InTarget::Subquery(subquery), negated: false, .. } => {
                let place = match &**expr {
                    Expr::Tuple(parts) => parts.iter().position(|part| resolve(part, scope).is_some()),
                    expr => resolve(expr, scope).map(|_| 0),
                };
                let Some(place) = place else { return };
                let column = match &**expr {
                    Expr::Tuple(parts) => resolve(&parts[place], scope),
                    expr => resolve(expr, scope),
                };
                // It is read once more for this column; its tables are counted already.
                let uses = self.uses.len();
                let inside = self.query_at(subquery, scope, Some(place)).flatten();
                self.uses.truncate(uses);
                if let (Some((node, _)), Some(inside)) = (column, inside) {
                    self.clauses.push((node, vec![inside]));
                }
            }
            _ => {}
        }
    }

    /// A relation of this query has a value for its namespace. One of a query around it is not restricted by that.
    fn restricted(&mut self, node: Node, depth: usize, scope: &Scope) {
        if depth == scope.frames.len() {
            self.is_named(node);
        }
    }

    /// Reads the subqueries of an expression.
    fn subqueries(&mut self, within: &impl Visit, scope: &Scope) {
        let mut subqueries = Subqueries::default();
        let _ = within.visit(&mut subqueries);
        for query in subqueries.found {
            self.query(&query, scope);
        }
    }
}

/// Functions that a statement which changes a distributed table cannot have.
const VOLATILE: &[&str] = &["clock_timestamp", "gen_random_uuid", "nextval", "random", "timeofday"];

/// The names of functions.
#[derive(Default)]
struct Functions(Vec<String>);

impl Visitor for Functions {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            self.0.push(last(&function.name));
        }
        ControlFlow::Continue(())
    }
}

/// The outermost queries in a part of a statement.
#[derive(Default)]
struct Subqueries {
    depth: usize,
    found: Vec<Query>,
}

impl Visitor for Subqueries {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.found.push(query.clone());
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// The column `namespace` that an expression is, and the depth of its query.
fn resolve(expr: &Expr, scope: &Scope) -> Option<(Node, usize)> {
    let depths = || scope.frames.iter().enumerate().rev().map(|(depth, frame)| (depth + 1, frame));
    match expr {
        Expr::Nested(inner) => resolve(inner, scope),
        Expr::Identifier(name) if name.value == COLUMN => {
            depths().find_map(|(depth, frame)| Some((frame.iter().find_map(|relation| relation.node)?, depth)))
        }
        Expr::CompoundIdentifier(parts) => {
            let [.., relation, column] = parts.as_slice() else { return None };
            if column.value != COLUMN {
                return None;
            }
            let (depth, found) = depths()
                .find_map(|(depth, frame)| Some((depth, frame.iter().find(|known| known.name == relation.value)?)))?;
            Some((found.node?, depth))
        }
        _ => None,
    }
}

/// True if an expression depends on no row.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) => true,
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_value(inner),
        Expr::Function(Function { args: FunctionArguments::List(list), .. }) => list
            .args
            .iter()
            .all(|argument| matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) if is_value(expr))),
        Expr::Subquery(query) => match &*query.body {
            SetExpr::Select(select) => {
                select.from.is_empty()
                    && select
                        .projection
                        .iter()
                        .all(|item| matches!(item, SelectItem::UnnamedExpr(expr) if is_value(expr)))
            }
            _ => false,
        },
        _ => false,
    }
}

/// The name of a column that an expression is.
fn column_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|part| part.value.clone()),
        _ => None,
    }
}

/// A name without its schema.
fn last(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::unnamed;

    /// The tables that the only statement does not name.
    fn of(statement: &str) -> Vec<String> {
        unnamed(statement).unwrap().remove(0).1
    }

    #[test]
    fn an_equality_names_a_table() {
        for statement in [
            "SELECT 1 FROM documents WHERE namespace = $1",
            "SELECT 1 FROM documents d WHERE d.path = $2 AND (d.namespace = ANY($1))",
            "SELECT 1 FROM passages p JOIN documents d ON d.namespace = p.namespace AND d.document = p.document WHERE p.namespace = $1",
            "SELECT 1 FROM namespaces n LEFT JOIN documents d USING (namespace) WHERE n.namespace = $1",
            "SELECT 1 FROM words w WHERE (w.namespace, w.passage) IN (SELECT w.namespace, w.passage FROM words w WHERE w.namespace = ANY($1))",
            "SELECT 1 FROM vectors v WHERE v.namespace = $1 AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.namespace = v.namespace)",
            "WITH a AS (SELECT namespace FROM documents WHERE namespace = $1) SELECT 1 FROM a JOIN words w USING (namespace)",
            "INSERT INTO vectors(namespace, model) SELECT $1, m FROM unnest($2::int[]) AS n(m)",
            "INSERT INTO vectors(model, namespace) VALUES ($2, $1)",
            "UPDATE documents d SET path = n.path FROM unnest($2::text[]) AS n(path) WHERE d.namespace = $1",
            "DELETE FROM words WHERE namespace = $1",
            "COPY words(namespace, passage) FROM STDIN BINARY",
            "SELECT 1 FROM models",
            "SELECT 1 FROM documents WHERE namespace = $1 FOR NO KEY UPDATE SKIP LOCKED",
        ] {
            assert_eq!(of(statement), <[String; 0]>::default(), "{statement}");
        }
    }

    #[test]
    fn nothing_else_does() {
        for (statement, tables) in [
            ("SELECT 1 FROM documents WHERE document = $1", vec!["documents"]),
            ("SELECT 1 FROM documents WHERE namespace <> $1", vec!["documents"]),
            ("SELECT 1 FROM documents WHERE namespace = $1 OR document = $2", vec!["documents"]),
            ("SELECT 1 FROM documents WHERE NOT namespace = $1", vec!["documents"]),
            (
                "SELECT 1 FROM passages p JOIN documents d ON d.document = p.document WHERE p.namespace = $1",
                vec!["documents"],
            ),
            (
                "SELECT 1 FROM namespaces n LEFT JOIN documents d ON d.namespace = n.namespace AND n.namespace = $1",
                vec!["namespaces", "documents"],
            ),
            (
                "SELECT 1 FROM namespaces n LEFT JOIN documents d ON d.namespace = n.namespace WHERE d.namespace = $1",
                vec!["namespaces"],
            ),
            ("SELECT (SELECT count(*) FROM words) FROM documents WHERE namespace = $1", vec!["words"]),
            (
                "SELECT 1 FROM documents d WHERE EXISTS (SELECT 1 FROM words w WHERE d.namespace = $1)",
                vec!["documents", "words"],
            ),
            (
                "SELECT 1 FROM (SELECT namespace FROM documents UNION ALL SELECT namespace FROM words WHERE namespace = $1) u",
                vec!["documents"],
            ),
            ("INSERT INTO vectors(namespace, model) SELECT $1, v.model FROM vectors v", vec!["vectors"]),
            ("INSERT INTO vectors(namespace, model) SELECT w.namespace, 1 FROM words w", vec!["vectors", "words"]),
            ("DELETE FROM words", vec!["words"]),
            ("UPDATE namespaces SET root = $1", vec!["namespaces"]),
            ("COPY words(passage) FROM STDIN BINARY", vec!["words"]),
        ] {
            let mut found = of(statement);
            found.sort_unstable();
            let mut tables: Vec<String> = tables.into_iter().map(str::to_owned).collect();
            tables.sort_unstable();
            assert_eq!(found, tables, "{statement}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(unnamed("SELECT FROM WHERE").is_err());
        assert!(unnamed("COPY words TO STDOUT").is_err());
        assert!(unnamed("UPDATE namespaces SET changed_ms = f(clock_timestamp()) WHERE namespace = $1").is_err());
    }
}

//! The language in which searches say what they look for.

use std::borrow::Cow;
use std::fmt;

use engine::{Found, JobId};
use jobspec::{Hostlist, HostlistError};

use crate::parse_job_id;

/// What a search looks for, such as `status=up and (sched-now=free or property=fast)`.
///
/// A criterion is a key, `=`, and a value up to the next space or tab:
///
/// | criterion                           | what it accepts                                     |
/// |-------------------------------------|-----------------------------------------------------|
/// | `status=up`, `status=down`          | what is up, down                                    |
/// | `sched-now=allocated`, `=free`      | what some job has now, no job has now               |
/// | `sched-future=reserved`, `=free`    | what some job has for later, no job has for later   |
/// | `jobid-alloc=ID`                    | what the job itself has now                         |
/// | `jobid-reserved=ID`                 | what the job itself has for later                   |
/// | `jobid-span=ID`                     | where something of the job is counted in aggregates |
/// | `jobid-tag=ID`                      | what the job has, and what stands above it          |
/// | `names=HOSTS`                       | what has one of the names in a host list (RFC 29)   |
/// | `property=NAME`                     | what has the property                               |
/// | `agfilter=true`, `=t`               | everything, and aggregates are told                 |
/// | `agfilter=false`, `=f`              | nothing, and aggregates are not told                |
///
/// Keys are in lower case. Values are put into lower case, except for job ids; a name or property
/// with a capital letter is thus never found. Job ids are in any form that [`parse_job_id`] reads.
/// Host lists are read as [`Hostlist::decode`] does, which refuses some malformed ones that Fluxion
/// takes, such as `node[1-]`.
///
/// Criteria are joined by `and` and `or`; where neither stands, `and` is meant. They bind equally
/// and from left to right, so `a or b and c` is `(a or b) and c`. Parentheses group. They need
/// space around them where a criterion, `and` or `or` is next to them on the outside, and none on
/// the inside. A parenthesis in a value belongs to the value and yet counts as one when the end of
/// a group is looked for.
///
/// **Source**: Fluxion's `find` command.
#[derive(Clone, Debug)]
pub struct Criteria {
    /// The expression in the order in which it was written.
    steps: Vec<Step>,
    aggregates: bool,
    job: Option<u64>,
}

/// Why a text is not an expression of [`Criteria`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: expected {expected}, found {found}")]
pub struct CriteriaError {
    offset: usize,
    column: usize,
    found: Token,
    expected: Cow<'static, str>,
    #[source]
    hosts: Option<HostlistError>,
}

impl CriteriaError {
    /// Returns how many bytes stand before the place of the error.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the column of the error: one more than the characters that stand before it.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the text that was found, `None` if it was the end of the text.
    pub fn found(&self) -> Option<&str> {
        match &self.found {
            Token::Text(text) => Some(text),
            Token::End => None,
        }
    }

    /// Returns what was expected instead, in words.
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

/// What stands at the place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) if text.chars().all(is_space) && !text.is_empty() => {
                f.write_str("space")
            }
            Self::Text(text) => write!(f, "`{text}`"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// One piece of an expression. Each joins what comes of it to what came of the pieces before it in
/// the same group; for the first piece of a group that is `true` and [`Join::And`].
#[derive(Clone, Debug)]
enum Step {
    Test(Join, Test),
    /// The start of a group.
    Open(Join),
    /// The end of a group.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    And,
    Or,
}

#[derive(Clone, Debug)]
enum Test {
    Down(bool),
    Allocated(bool),
    Reserved(bool),
    /// The job has it, later if true.
    Held(JobId, bool),
    Counted(JobId),
    Tagged(JobId),
    Constant(bool),
    Names(Hostlist),
    Property(String),
}

impl Criteria {
    /// Reads an expression.
    ///
    /// **Complexity**: linear in the length of the text.
    ///
    /// # Errors
    ///
    /// Returns a [`CriteriaError`] for an unknown key, a value that its key does not take, a
    /// parenthesis that is not closed, and where a criterion is missing.
    pub fn parse(text: &str) -> Result<Self, CriteriaError> {
        Parser { text, criteria: Self { steps: Vec::new(), aggregates: false, job: None } }.run()
    }

    /// Returns whether a vertex is looked for.
    pub fn matches(&self, found: &Found<'_>) -> bool {
        self.evaluate(|test| test.holds(found))
    }

    /// Returns whether aggregates are to be told: what the last `agfilter` criterion says,
    /// wherever it stands.
    pub fn aggregates(&self) -> bool {
        self.aggregates
    }

    /// Returns the job whose share of the aggregates is meant, `None` for the usage by all jobs.
    ///
    /// It is the job of the last criterion that names one, wherever it stands, but read after the
    /// value was put into lower case: a base58 id with capital letters becomes another job or, if
    /// it has an `L`, is passed over. Job 0 stands for all.
    pub fn job(&self) -> Option<u64> {
        self.job
    }

    /// Returns how many criteria and groups there are.
    pub fn size(&self) -> usize {
        self.steps.len()
    }

    fn evaluate(&self, mut holds: impl FnMut(&Test) -> bool) -> bool {
        let mut outer = Vec::new();
        let mut result = true;
        for step in &self.steps {
            match step {
                Step::Test(Join::And, test) => result = result && holds(test),
                Step::Test(Join::Or, test) => result = result || holds(test),
                &Step::Open(join) => {
                    outer.push((result, join));
                    result = true;
                }
                Step::Close => match outer.pop() {
                    Some((before, Join::And)) => result = before && result,
                    Some((before, Join::Or)) => result = before || result,
                    None => {}
                },
            }
        }
        result
    }

    /// Adds the criterion of `key` and `value`, or returns what was expected of the value.
    fn push(&mut self, join: Join, key: &str, value: &str) -> Result<(), Refused> {
        let lower = value.to_ascii_lowercase();
        let one_of = |first: &str, second: &str, expected| {
            let is_first = lower == first;
            if is_first || lower == second { Ok(is_first) } else { Err(Refused::value(expected)) }
        };
        let mut job = || {
            let Some(job) = parse_job_id(value) else {
                return Err(Refused::value("a job id such as `5`, `0x5`, `0.0.0.5` or `ƒ6`"));
            };
            if let Some(meant) = parse_job_id(&lower) {
                self.job = (meant != 0).then_some(meant);
            }
            Ok(JobId(job))
        };
        let test = match key {
            "status" => Test::Down(one_of("down", "up", "`up` or `down`")?),
            "sched-now" => Test::Allocated(one_of("allocated", "free", "`allocated` or `free`")?),
            "sched-future" => Test::Reserved(one_of("reserved", "free", "`reserved` or `free`")?),
            "jobid-alloc" => Test::Held(job()?, false),
            "jobid-reserved" => Test::Held(job()?, true),
            "jobid-span" => Test::Counted(job()?),
            "jobid-tag" => Test::Tagged(job()?),
            "agfilter" => {
                let expected = "`true`, `t`, `false` or `f`";
                let given = match lower.as_str() {
                    "t" => true,
                    "f" => false,
                    _ => one_of("true", "false", expected)?,
                };
                self.aggregates = given;
                Test::Constant(given)
            }
            "names" => Test::Names(Hostlist::decode(&lower).map_err(|error| Refused::Value {
                expected: Cow::Owned(format!("a host list such as `node[0-3,7]` ({error})")),
                hosts: Some(error),
            })?),
            "property" if lower.is_empty() => {
                return Err(Refused::value("the name of a property"));
            }
            "property" => Test::Property(lower),
            _ => return Err(Refused::Key),
        };
        self.steps.push(Step::Test(join, test));
        Ok(())
    }
}

impl Test {
    fn holds(&self, found: &Found<'_>) -> bool {
        match self {
            &Self::Down(wanted) => found.is_down() == wanted,
            &Self::Allocated(wanted) => found.is_allocated() == wanted,
            &Self::Reserved(wanted) => found.is_reserved() == wanted,
            &Self::Held(job, reserved) => found.is_held_by(job, reserved),
            &Self::Counted(job) => found.is_counted_for(job),
            &Self::Tagged(job) => found.is_tagged_by(job),
            &Self::Constant(result) => result,
            Self::Names(hosts) => hosts.contains(&found.graph().name(found.vertex())),
            Self::Property(name) => {
                let properties = found.graph().properties(found.vertex());
                properties.is_some_and(|properties| properties.contains_key(name.as_str()))
            }
        }
    }
}

/// Why a criterion was refused.
enum Refused {
    Key,
    Value { expected: Cow<'static, str>, hosts: Option<HostlistError> },
}

impl Refused {
    fn value(expected: &'static str) -> Self {
        Self::Value { expected: Cow::Borrowed(expected), hosts: None }
    }
}

struct Parser<'a> {
    text: &'a str,
    criteria: Criteria,
}

const CRITERION: &str = "a criterion such as `status=up`";
const KEYS: &str = "`status`, `sched-now`, `sched-future`, `jobid-alloc`, `jobid-reserved`, \
                    `jobid-span`, `jobid-tag`, `agfilter`, `names` or `property`";

impl Parser<'_> {
    fn run(mut self) -> Result<Criteria, CriteriaError> {
        let closers = closers(self.text);
        // The ends of the groups around the one at hand, and where that one ends.
        let mut outer = Vec::new();
        let mut end = self.text.len();
        let mut at = 0;
        let mut join = Join::And;
        loop {
            at = self.skip_space(at, end);
            if self.text[at..end].starts_with('(') {
                let Some(closer) = closers[at] else {
                    let found = Token::Text(self.text[at..end].to_owned());
                    return Err(self.error(at, found, "a `(` that is closed"));
                };
                self.criteria.steps.push(Step::Open(join));
                outer.push(end);
                join = Join::And;
                end = closer;
                at += 1;
                continue;
            }
            let word = self.word(at, end);
            self.criterion(at, word, join)?;
            at = word;
            let next = loop {
                let next = self.skip_space(at, end);
                if next < end {
                    break next;
                }
                let Some(outer_end) = outer.pop() else {
                    return Ok(self.criteria);
                };
                self.criteria.steps.push(Step::Close);
                at = end + 1;
                end = outer_end;
            };
            let word = self.word(next, end);
            if next == at {
                return Err(self.error(at, self.token(at, word), "a space or the end after `)`"));
            }
            (join, at) = match &self.text[next..word] {
                "and" => (Join::And, word),
                "or" => (Join::Or, word),
                _ => (Join::And, next),
            };
        }
    }

    fn criterion(&mut self, start: usize, end: usize, join: Join) -> Result<(), CriteriaError> {
        let word = &self.text[start..end];
        let Some((key, value)) = word.split_once('=') else {
            let expected = match word {
                _ if self.criteria.steps.is_empty() => CRITERION,
                "and" | "or" | "" => CRITERION,
                _ => "`and`, `or` or a criterion such as `status=up`",
            };
            return Err(self.error(start, self.token(start, end), expected));
        };
        self.criteria.push(join, key, value).map_err(|refused| match refused {
            Refused::Key => {
                self.error(start, Token::Text(key.to_owned()), format!("one of {KEYS}"))
            }
            Refused::Value { expected, hosts } => {
                let at = start + key.len() + 1;
                CriteriaError { hosts, ..self.error(at, self.token(at, end), expected) }
            }
        })
    }

    fn skip_space(&self, at: usize, end: usize) -> usize {
        end - self.text[at..end].trim_start_matches(is_space).len()
    }

    /// Returns the end of the word at `at`.
    fn word(&self, at: usize, end: usize) -> usize {
        self.text[at..end].find(is_space).map_or(end, |length| at + length)
    }

    /// Returns what stands from `start` to `end` or, if that is nothing, what ends it.
    fn token(&self, start: usize, end: usize) -> Token {
        let text = if start == end {
            self.text[start..].chars().next().map(String::from)
        } else {
            Some(self.text[start..end].to_owned())
        };
        text.map_or(Token::End, Token::Text)
    }

    fn error(
        &self,
        offset: usize,
        found: Token,
        expected: impl Into<Cow<'static, str>>,
    ) -> CriteriaError {
        CriteriaError {
            offset,
            column: self.text[..offset].chars().count() + 1,
            found,
            expected: expected.into(),
            hosts: None,
        }
    }
}

fn is_space(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// Returns, for each byte of the text that is an opening parenthesis, where it is closed.
fn closers(text: &str) -> Vec<Option<usize>> {
    let mut closers = vec![None; text.len()];
    let mut open = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                if let Some(opened) = open.pop() {
                    closers[opened] = Some(at);
                }
            }
            _ => {}
        }
    }
    closers
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::{Engine, Graph, Ignore, MatchOp, NewVertex, Outcome, SearchOptions, Status};
    use jobspec::{Dialect, Jobspec};

    use super::*;

    const ACCEPTED: &[&str] = &[
        "status=up",
        "status=UP",
        "status=Down",
        "sched-now=allocated",
        "sched-now=Free",
        "sched-future=reserved",
        "sched-future=free",
        "jobid-alloc=1",
        "jobid-reserved=0x1",
        "jobid-span=ƒ2",
        "jobid-tag=f2",
        "jobid-tag=job.0.0.0.1",
        "jobid-tag=fNH",
        "agfilter=true",
        "agfilter=T",
        "agfilter=FALSE",
        "agfilter=f",
        "names=",
        "names=,",
        "names=node[0-3,7],login",
        "names=node0",
        "property=x",
        "property==",
        "property=a=b",
        "property=)",
        "property=(",
        "property=\n",
        "property=é",
        " \tstatus=up\t ",
        "status=up and status=up",
        "status=up or status=up",
        "status=up\tand\tstatus=up",
        "status=up  status=up",
        "(status=up)",
        "( status=up )",
        "((status=up) or (status=up))",
        "status=up (status=up)",
        "(status=up) status=up",
        "(status=up) and (status=up)",
        "(property=a(b)c)",
        "(property=a() or status=up)",
        "property=(a (status=up)",
        "property=a) (status=up)",
    ];

    /// An expression, the offset of what is wrong with it, what that is, and a part of what was
    /// expected.
    type Refusal = (&'static str, usize, Option<&'static str>, &'static str);

    const REFUSED: &[Refusal] = &[
        ("", 0, None, "a criterion such as"),
        (" \t", 2, None, "a criterion such as"),
        ("foo", 0, Some("foo"), "a criterion such as"),
        ("and", 0, Some("and"), "a criterion such as"),
        ("foo=up", 0, Some("foo"), "one of `status`"),
        ("Status=up", 0, Some("Status"), "one of `status`"),
        ("=up", 0, Some(""), "one of `status`"),
        ("é=up status=up", 0, Some("é"), "one of `status`"),
        ("status", 0, Some("status"), "a criterion such as"),
        ("status=", 7, None, "`up` or `down`"),
        ("status= up", 7, Some(" "), "`up` or `down`"),
        ("status = up", 0, Some("status"), "a criterion such as"),
        ("status=upp", 7, Some("upp"), "`up` or `down`"),
        ("status=up)", 7, Some("up)"), "`up` or `down`"),
        ("status=allocated", 7, Some("allocated"), "`up` or `down`"),
        ("sched-now=reserved", 10, Some("reserved"), "`allocated` or `free`"),
        ("sched-future=allocated", 13, Some("allocated"), "`reserved` or `free`"),
        ("jobid-alloc=", 12, None, "a job id"),
        ("jobid-alloc=F2", 12, Some("F2"), "a job id"),
        ("jobid-span=-1", 11, Some("-1"), "a job id"),
        ("jobid=1", 0, Some("jobid"), "one of `status`"),
        ("agfilter=yes", 9, Some("yes"), "`true`, `t`, `false` or `f`"),
        ("names=node[0-3", 6, Some("node[0-3"), "a host list"),
        ("names=node[3-0]", 6, Some("node[3-0]"), "a host list"),
        ("property=", 9, None, "the name of a property"),
        ("(property=)", 10, Some(")"), "the name of a property"),
        ("()", 1, Some(")"), "a criterion such as"),
        ("(status=up", 0, Some("(status=up"), "a `(` that is closed"),
        ("status=up and", 13, None, "a criterion such as"),
        ("(status=up or )", 14, Some(")"), "a criterion such as"),
        ("status=up and and status=up", 14, Some("and"), "a criterion such as"),
        ("status=up AND status=up", 10, Some("AND"), "`and`, `or` or a criterion"),
        ("status=up && status=up", 10, Some("&&"), "`and`, `or` or a criterion"),
        ("not status=up", 0, Some("not"), "a criterion such as"),
        ("(status=up)or status=up", 11, Some("or"), "a space or the end"),
        ("(status=up)(status=up)", 11, Some("(status=up)"), "a space or the end"),
        ("(status=up))", 11, Some(")"), "a space or the end"),
        ("status=up and(status=up)", 10, Some("and(status"), "one of `status`"),
        ("status=up(status=up)", 7, Some("up(status=up)"), "`up` or `down`"),
        ("status=up\nand status=up", 7, Some("up\nand"), "`up` or `down`"),
    ];

    #[test]
    fn expressions_are_accepted() {
        for &text in ACCEPTED {
            assert!(Criteria::parse(text).is_ok(), "{text:?}: {:?}", Criteria::parse(text));
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_place() {
        for &(text, offset, found, expected) in REFUSED {
            let error = Criteria::parse(text).expect_err(text);
            assert_eq!((error.offset(), error.found()), (offset, found), "{text:?}");
            assert!(error.expected().starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn errors_count_columns_in_characters() {
        let error = Criteria::parse("property=ééé and status=on").expect_err("a bad status");
        assert_eq!((error.offset(), error.column()), (27, 25));
        assert_eq!(error.to_string(), "column 25: expected `up` or `down`, found `on`");
        let error = Criteria::parse("status=up or").expect_err("no criterion");
        assert_eq!(
            error.to_string(),
            "column 13: expected a criterion such as `status=up`, found the end"
        );
        let error = Criteria::parse("status= up").expect_err("no status");
        assert_eq!(error.to_string(), "column 8: expected `up` or `down`, found space");
        let error = Criteria::parse("names=a[").expect_err("no host list");
        assert!(std::error::Error::source(&error).is_some());
    }

    #[test]
    fn nesting_may_be_deep() {
        let depth = 100_000;
        let text = format!("{}agfilter=t{}", "(".repeat(depth), ")".repeat(depth));
        let criteria = Criteria::parse(&text).unwrap();
        assert!(criteria.evaluate(|_| true));
        assert!(Criteria::parse(&text[..text.len() - 1]).is_err());
    }

    #[test]
    fn joins_bind_equally_from_left_to_right() {
        for (text, result) in [
            ("T", true),
            ("F", false),
            ("T F", false),
            ("T or T and F", false),
            ("F and F or T", true),
            ("T or (T and F)", true),
            ("F and (F or T)", false),
            ("F or (F or (F or T))", true),
            ("F or (T F) or T", true),
            ("(T or T) (F)", false),
            ("((F or T) and T) or F", true),
        ] {
            let text = text.replace('T', "agfilter=t").replace('F', "agfilter=f");
            let criteria = Criteria::parse(&text).unwrap();
            assert_eq!(
                criteria.evaluate(|test| matches!(test, Test::Constant(true))),
                result,
                "{text}"
            );
        }
    }

    #[test]
    fn the_last_criteria_say_what_is_told() {
        for (text, aggregates, job) in [
            ("status=up", false, None),
            ("agfilter=t", true, None),
            ("agfilter=t and agfilter=F", false, None),
            ("agfilter=f or agfilter=TRUE", true, None),
            ("agfilter=t (agfilter=f)", false, None),
            ("jobid-alloc=5", false, Some(5)),
            ("jobid-alloc=5 jobid-reserved=6 jobid-span=7 jobid-tag=8", false, Some(8)),
            ("jobid-tag=8 (jobid-span=7 (jobid-alloc=5))", false, Some(5)),
            ("jobid-alloc=5 jobid-tag=0", false, None),
            ("jobid-alloc=0xA", false, Some(10)),
            // In lower case it is another job.
            ("jobid-alloc=fNH", false, Some(2650)),
            // In lower case it is none.
            ("jobid-alloc=fL", false, None),
            ("jobid-alloc=5 jobid-alloc=fL", false, Some(5)),
        ] {
            let criteria = Criteria::parse(text).unwrap();
            assert_eq!((criteria.aggregates(), criteria.job()), (aggregates, job), "{text}");
        }
    }

    /// A cluster with three nodes of two cores. Job 1 has a core of the first node, job 2 all of
    /// the second, job 3 will have all of the first; the third is down.
    fn engine() -> Engine {
        let mut graph = Graph::new();
        let subsystem = graph.intern_subsystem("containment").unwrap();
        let add = |graph: &mut Graph, kind: &str, id| {
            let kind_id = graph.intern_type(kind).unwrap();
            graph
                .add_vertex(&NewVertex {
                    kind: kind_id,
                    basename: kind,
                    name: None,
                    id,
                    uniq_id: id,
                    rank: -1,
                    size: 1,
                    unit: "",
                    status: Status::Up,
                })
                .unwrap()
        };
        let root = add(&mut graph, "cluster", 0);
        graph.set_root(subsystem, root).unwrap();
        for id in 0..3 {
            let node = add(&mut graph, "node", id);
            graph.add_edge(root, node, subsystem).unwrap();
            for id in [2 * id, 2 * id + 1] {
                let core = add(&mut graph, "core", id);
                graph.add_edge(node, core, subsystem).unwrap();
            }
            if id == 1 {
                graph.set_property(node, "fast", "").unwrap();
                graph.set_property(node, "Big", "").unwrap();
            }
        }
        let policy = policies::policy("low").unwrap();
        let mut engine = Engine::new(graph, policy, engine::Options::default()).unwrap();
        engine.set_status("/cluster0/node2", Status::Down).unwrap();
        let node = "[{type: node, count: 1, exclusive: true, with: [{type: slot, count: 1, \
                    label: a, with: [{type: core, count: 2}]}]}]";
        let core = "[{type: slot, count: 1, label: a, with: [{type: core, count: 1}]}]";
        for (job, resources, duration, outcome) in [
            (1, core, 10, Outcome::Allocated),
            (2, node, 20, Outcome::Allocated),
            (3, node, 5, Outcome::Reserved { at: 10 }),
        ] {
            let text = format!(
                "{{version: 9999, resources: {resources}, \
                 attributes: {{system: {{duration: {duration}}}}}, \
                 tasks: [{{command: [a], slot: a, count: {{per_slot: 1}}}}]}}"
            );
            let jobspec = Jobspec::parse(&text, Dialect::Fluxion).unwrap();
            let op = MatchOp::AllocateOrelseReserve;
            let got = engine.match_jobspec(op, &jobspec, JobId(job), 0, &mut Ignore);
            assert_eq!(got.unwrap(), outcome);
        }
        engine
    }

    #[test]
    fn vertices_are_found() {
        let mut engine = engine();
        let mut find = |text: &str| {
            let criteria = Criteria::parse(text).unwrap();
            let mut names = BTreeSet::new();
            let mut wanted = |found: &Found<'_>| {
                let matches = criteria.matches(found);
                if matches {
                    names.insert(found.graph().name(found.vertex()));
                }
                matches
            };
            engine.find(&mut wanted, &SearchOptions::default(), &mut Ignore).unwrap();
            names.into_iter().collect::<Vec<_>>().join(" ")
        };
        let all = "cluster0 core0 core1 core2 core3 core4 core5 node0 node1 node2";
        for (text, names) in [
            ("status=up", "cluster0 core0 core1 core2 core3 node0 node1"),
            ("status=down", "core4 core5 node2"),
            ("sched-now=allocated", "core0 core2 core3 node1"),
            ("sched-now=free status=up", "cluster0 core1 node0"),
            ("sched-future=reserved", "core0 core1 node0"),
            ("sched-future=free status=up", "cluster0 core2 core3 node1"),
            ("jobid-alloc=1", "core0"),
            ("jobid-alloc=3", ""),
            ("jobid-reserved=ƒ4", "core0 core1 node0"),
            ("jobid-reserved=1", ""),
            ("jobid-tag=0x1", "cluster0 core0 node0"),
            ("agfilter=t", all),
            ("agfilter=f", ""),
            ("agfilter=f or names=NODE[0-1]", "node0 node1"),
            ("names=core[1-2],core5,rack0", "core1 core2 core5"),
            ("property=FAST", "node1"),
            ("property=big", ""),
            ("property=Big", ""),
        ] {
            assert_eq!(find(text), names, "{text}");
        }
    }
}

//! The page about the three APIs side by side, written from their tables and from streams that say the same.

mod answers;
mod rows;

use std::fmt::Write as _;

use conformance::goldens;
use spec::Dialect;
use tests::generated::is_fresh;

/// A column: the dialect that stands for its API, and the stream of the same answer.
#[derive(Debug, Clone, Copy)]
struct Column {
    dialect: &'static Dialect,
    stream: &'static goldens::Golden,
}

/// Returns the columns. The dialect `deepseek-chat` of Chat Completions has reasoning, which OpenAI's has not.
fn columns() -> Vec<Column> {
    let column = |name: &str| {
        let dialect = spec::dialect(name).expect("it is known");
        let stream = goldens::golden(&format!("{name}/weather")).expect("it is there");
        Column { dialect, stream }
    };
    ["openai", "anthropic", "deepseek-chat"].map(column).to_vec()
}

#[test]
fn the_page_is_fresh() {
    let columns = columns();
    let mut page = String::from(
        "# Responses, Messages and Chat Completions, side by side\n\nWhat corresponds in the streams of the three APIs, what \
         each lacks, and one answer in all three. The tables follow from `spec/apis/<api>/api.toml` and from the events of \
         the dialects ",
    );
    let names: Vec<String> = columns.iter().map(|column| format!("`{}`", column.dialect.name)).collect();
    let _ = write!(page, "{}; the streams are goldens.\n\n", names.join(", "));
    page += &rows::events(&columns);
    page += &rows::values(&columns);
    page += &rows::alone(&columns);
    page += &answers::drawn(&columns);
    is_fresh("docs/side-by-side.md", &page, "side_by_side");
    // The words by which people compare these streams.
    for word in [
        "`message_start`",
        "`content_block_start`",
        "`content_block_delta`",
        "`text_delta`",
        "`input_json_delta`",
        "`thinking_delta`",
        "`message_delta`",
        "`message_stop`",
        "`index`",
        "`stop_reason`",
        "`response.created`",
        "`response.output_text.delta`",
        "`response.completed`",
        "`finish_reason`",
        "`[DONE]`",
    ] {
        assert!(page.contains(word), "{word}");
    }
}

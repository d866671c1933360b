//! Drawing. Pure: a frame from a state and the questions.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, List, ListItem, ListState, Paragraph};

use super::state::{State, order};
use crate::approvals::shown;
pub use stockade_report::approve::grammar::{AnswerChoices, LineMeaning};
use stockade_report::approve::socket::WaitingQuestion;
use stockade_report::approve::{Answer, Choice, Extent};
use stockade_text::visible::{fit, visible, visible_but_for_blanks};

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, state: &State, questions: &[&WaitingQuestion]) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut below = vec![Line::raw(visible(&state.notice))];
    let prompt = prompt(state, questions, frame.area().width.into());
    below.extend(
        prompt
            .lines()
            .map(|row| Line::styled(visible_but_for_blanks(row).into_owned(), bold)),
    );
    let areas = Layout::vertical([
        Constraint::Fill(2),
        Constraint::Fill(3),
        Constraint::Max(5),
        Constraint::Length(below.len().try_into().unwrap_or(u16::MAX)),
    ]);
    let [list, details, history, keys] = areas.areas(frame.area());
    draw_list(frame, list, state, questions);
    draw_details(frame, details, state, questions);
    let lines: Vec<Line<'_>> = state.history.iter().map(|line| Line::raw(visible(line))).collect();
    frame.render_widget(
        Paragraph::new(lines).block(Block::bordered().title("Answered")),
        history,
    );
    frame.render_widget(Paragraph::new(below), keys);
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, state: &State, questions: &[&WaitingQuestion]) {
    let mut items: Vec<ListItem<'_>> = Vec::new();
    let mut selected = None;
    let mut run = None;
    // Four columns hold the border and the mark, twelve stand before the name.
    let columns = usize::from(area.width).saturating_sub(4);
    for number in order(questions) {
        let Some(question) = questions.iter().find(|question| question.number == number) else {
            continue;
        };
        if run != Some(&question.request.run) {
            run = Some(&question.request.run);
            let bold = Style::new().add_modifier(Modifier::BOLD);
            items.push(ListItem::new(Line::styled(
                fit::shortened(&shown::run(&question.request), columns),
                bold,
            )));
        }
        if state.selected == Some(number) {
            selected = Some(items.len());
        }
        let left = shown::seconds_left(question);
        items.push(ListItem::new(format!(
            "  {number}: {left:>3} s  {}",
            shown::wanted(&question.request, columns.saturating_sub(12))
        )));
    }
    if items.is_empty() {
        items.push(ListItem::new("nothing waits"));
    }
    let title = format!("Stockade: {} waiting", questions.len());
    let list = List::new(items)
        .block(Block::bordered().title(title))
        .highlight_symbol("> ")
        .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(list, area, &mut ListState::default().with_selected(selected));
}

fn draw_details(frame: &mut Frame<'_>, area: Rect, state: &State, questions: &[&WaitingQuestion]) {
    let question = questions
        .iter()
        .find(|question| Some(question.number) == state.selected);
    let lines = question.map_or_else(Vec::new, |question| {
        let mut lines = shown::question(question);
        if state.has_details {
            lines.extend(shown::details(question));
        }
        lines
    });
    let title = question.map_or_else(String::new, |question| format!("Question {}", question.number));
    // Two columns hold the border. Lines are wrapped here: a row that the widget wraps would begin with the run's text.
    let columns = usize::from(area.width.saturating_sub(2));
    let lines: Vec<String> = lines.iter().map(|line| fit::broken(line, columns)).collect();
    let text = Paragraph::new(Text::from(lines.join("\n")))
        .scroll((state.scroll, 0))
        .block(Block::bordered().title(title).title_bottom("PgUp PgDn"));
    frame.render_widget(text, area);
}

/// The last lines: the offered answers, or the typed line with the effect of Enter.
fn prompt(state: &State, questions: &[&WaitingQuestion], width: usize) -> String {
    let find = |number| questions.iter().find(|question| Some(question.number) == number);
    if state.is_leaving {
        let text = format!("Enter: leave, {} waiting will be refused, Esc: stay", questions.len());
        return fit::broken(&text, width);
    }
    match find(state.meant_for.filter(|_| !state.typed.is_empty())) {
        Some(question) => {
            let text = format!("{}: {}_{}", question.number, state.typed, enter(&state.typed, question));
            fit::broken(&text, width)
        }
        None => {
            let mut words =
                find(state.selected).map_or_else(Vec::new, |question| AnswerChoices::of(&question.request).shown());
            words.push(format!("[q]uit, and Enter: {}_", state.typed));
            fit::listed(&words, width)
        }
    }
}

/// The effect of Enter on the typed line.
fn enter(typed: &str, question: &WaitingQuestion) -> String {
    let request = &question.request;
    match AnswerChoices::of(request).meaning(typed) {
        LineMeaning::Answer(Choice::Yes { lifetime, extent }, _) => {
            let granted = match (&extent, &request.wider) {
                (Extent::Wider, Some(wider)) => shown::requested(wider),
                (Extent::Profile(name), _) => format!("all of `{name}`"),
                _ => shown::requested(&request.requested),
            };
            format!("  Enter: yes, {}: {granted}", shown::time(lifetime))
        }
        LineMeaning::Answer(Choice::No { all: true }, _) => "  Enter: no, and to all that its run asks".to_string(),
        LineMeaning::Answer(..) => "  Enter: no".to_string(),
        LineMeaning::Details | LineMeaning::Unclear => String::new(),
    }
}

/// A history line for an answer.
pub fn answered(question: &WaitingQuestion, answer: &Answer) -> String {
    format!(
        "{}: {}: {}",
        question.number,
        shown::short(&shown::summary(answer)),
        shown::wanted(&question.request, shown::LINE)
    )
}

#[cfg(test)]
mod tests;

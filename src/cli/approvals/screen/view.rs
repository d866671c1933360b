//! What is drawn. Pure: a frame from a state and the questions.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, List, ListItem, ListState, Paragraph};

use super::state::{Mode, State, order};
use crate::approve::Answer;
use crate::approve::socket::Question;
use crate::cli::approvals::order::Said;
use crate::cli::approvals::{shown, verdict};
use crate::visible::{fit, visible, visible_but_for_blanks};

/// Draws all of it.
pub fn draw(frame: &mut Frame<'_>, state: &State, questions: &[&Question]) {
    let areas = Layout::vertical([
        Constraint::Fill(2),
        Constraint::Fill(3),
        Constraint::Max(5),
        Constraint::Length(2),
    ]);
    let [list, details, history, keys] = areas.areas(frame.area());
    draw_list(frame, list, state, questions);
    draw_details(frame, details, state, questions);
    let lines: Vec<Line<'_>> = state.history.iter().map(|line| Line::raw(visible(line))).collect();
    frame.render_widget(
        Paragraph::new(lines).block(Block::bordered().title("Answered")),
        history,
    );
    let below = vec![Line::raw(visible(&state.notice)), prompt(state, questions)];
    frame.render_widget(Paragraph::new(below), keys);
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, state: &State, questions: &[&Question]) {
    let mut items: Vec<ListItem<'_>> = Vec::new();
    let mut selected = None;
    let mut run = None;
    for number in order(questions) {
        let Some(question) = questions.iter().find(|question| question.number == number) else {
            continue;
        };
        if run != Some(&question.request.run) {
            run = Some(&question.request.run);
            let bold = Style::new().add_modifier(Modifier::BOLD);
            items.push(ListItem::new(Line::styled(shown::run(&question.request), bold)));
        }
        if state.selected == Some(number) {
            selected = Some(items.len());
        }
        let left = shown::seconds_left(question);
        items.push(ListItem::new(format!(
            "  {number}: {left:>3} s  {}",
            shown::wanted(&question.request)
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

fn draw_details(frame: &mut Frame<'_>, area: Rect, state: &State, questions: &[&Question]) {
    let question = questions
        .iter()
        .find(|question| Some(question.number) == state.selected);
    let lines = question.map_or_else(Vec::new, |question| {
        let mut lines = shown::question(question);
        lines.extend(shown::details(question));
        lines
    });
    let title = question.map_or_else(String::new, |question| format!("Question {}", question.number));
    // Two columns are the border's. Broken here, since a row that the widget begins would begin with the run's text.
    let columns = usize::from(area.width.saturating_sub(2));
    let lines: Vec<String> = lines.iter().map(|line| fit::broken(line, columns)).collect();
    let text = Paragraph::new(Text::from(lines.join("\n")))
        .scroll((state.scroll, 0))
        .block(Block::bordered().title(title).title_bottom("PgUp PgDn"));
    frame.render_widget(text, area);
}

/// The last line: what the next key does.
fn prompt(state: &State, questions: &[&Question]) -> Line<'static> {
    let granted = |number: &u32, said: &Said| {
        let question = questions.iter().find(|question| question.number == *number);
        let requested = question.and_then(|question| match said {
            Said::Wider(_) => question.request.wider.as_ref(),
            _ => Some(&question.request.requested),
        });
        requested.map_or_else(String::new, shown::requested)
    };
    let text = match &state.mode {
        Mode::Choosing => "o once  s session  a always  w wider  n no  N no to run  q quit, then Enter".to_string(),
        Mode::Confirming(number, said) => {
            let lifetime = match said {
                Said::Yes(lifetime, _) | Said::Wider(Some(lifetime)) => lifetime.word(),
                _ => "",
            };
            let other = if matches!(said, Said::Wider(_)) {
                ", Tab: another time"
            } else {
                ""
            };
            format!(
                "Enter: yes to {number}, {lifetime}{other}, Esc: back: {}",
                granted(number, said)
            )
        }
        Mode::Naming(number, _, typed) => format!("{number}: type the profile's name, Enter: {typed}"),
        Mode::Refusing(number, typed) => format!("Enter: no to {number}, Esc: back; reason: {typed}"),
        Mode::RefusingAll(number) => format!("Enter: no to {number} and all that its run asks, Esc: back"),
        Mode::Leaving => format!("Enter: leave, {} waiting will be refused, Esc: stay", questions.len()),
    };
    Line::styled(
        visible_but_for_blanks(&text).into_owned(),
        Style::new().add_modifier(Modifier::BOLD),
    )
}

/// An answer for the history.
pub fn answered(question: &Question, answer: &Answer) -> String {
    format!(
        "{}: {}: {}",
        question.number,
        shown::wanted(&question.request),
        shown::short(&verdict::summary(answer))
    )
}

#[cfg(test)]
mod tests;

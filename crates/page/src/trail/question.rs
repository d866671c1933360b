//! Questions of runs with their answers, and what was granted on them.

use super::{TrailPage, optional, shown};
use crate::document::{Event, Question, Verdict, kind_of_access};
use crate::run::Tone;
use crate::words;
use stockade_report::approve::EscalationRequest;
use stockade_report::audit::{Decided, Granted};
use stockade_text::visible::visible;

impl TrailPage {
    pub(super) fn question(&mut self, event: &mut Event, request: &EscalationRequest) {
        let evidence = &request.evidence;
        let requested = words::requested(&request.requested);
        let strings = &mut self.page.strings;
        event.verdict = Verdict::Asked;
        event.target = strings.number(&evidence.target);
        event.asked = strings.number(&evidence.asked);
        event.call = strings.number(&evidence.syscall);
        event.pid = evidence.pid;
        event.program = strings.number(&evidence.program);
        let offered = strings.number_of_shown(requested.clone());
        let access = evidence.access.name();
        event.more = strings.number_of_shown(format!("{access}; asked for {requested}"));
        self.offered
            .insert((event.run, kind_of_access(evidence.access), event.target), offered);
        let facts = [
            Some(("access", access.to_string())),
            optional("target", Some(&evidence.target)),
            optional("asked as", Some(&evidence.asked)),
            Some(("asked for", requested.clone())),
            request.wider.as_ref().map(|wider| ("wider", words::requested(wider))),
            optional("warning", evidence.warning.as_deref()),
            optional("why", Some(&evidence.why)),
            optional("program", Some(&evidence.program)),
            Some(("process", evidence.pid.to_string())),
            optional("agent", evidence.agent.as_deref()),
            optional("question", Some(&request.id)),
        ];
        self.asked.insert(request.id.clone(), self.page.questions.len());
        self.page.questions.push(Question {
            run: event.run,
            time: Some(event.time),
            waited: None,
            access,
            target: shown(&evidence.target),
            requested,
            answer: "no answer is recorded".to_string(),
            tone: Tone::Ask,
            program: shown(&evidence.program),
            facts: facts.into_iter().flatten().collect(),
        });
    }

    fn asked(&mut self, id: &str) -> Option<&mut Question> {
        let at = *self.asked.get(id)?;
        self.page.questions.get_mut(at)
    }

    pub(super) fn answered(&mut self, event: &mut Event, decided: &Decided) {
        let (text, tone) = words::answer(&decided.answer);
        event.verdict = Verdict::Asked;
        event.more = self.page.strings.number_of_shown(text.clone());
        let time = event.time;
        let Some(question) = self.asked(&decided.request) else {
            return;
        };
        let waited = question.time.and_then(|asked| u64::try_from(time - asked).ok());
        question.facts.push(("answer", text.clone()));
        question
            .facts
            .extend(waited.map(|waited| ("waited", format!("{waited} ms"))));
        (question.answer, question.tone, question.waited) = (text, tone, waited);
        event.target = self.target_of(&decided.request);
    }

    pub(super) fn granted(&mut self, event: &mut Event, granted: &Granted) {
        let what = words::requested(&granted.granted);
        let text = format!("{what}, {}, by {}", granted.lifetime.word(), visible(&granted.by));
        event.verdict = Verdict::Asked;
        event.more = self.page.strings.number_of_shown(text.clone());
        event.target = self.target_of(&granted.request);
        if let Some(question) = self.asked(&granted.request) {
            question.facts.push(("granted", text));
        }
    }

    /// The target of a question, as a text of the table.
    fn target_of(&mut self, request: &str) -> u32 {
        let target = self.asked(request).map(|question| question.target.clone());
        self.page.strings.number_of_shown(target.unwrap_or_default())
    }
}

//! A row of the table as the expression that makes it.

use interlocking_core::table::{Goto, NodeKind, NodeRow, Visits};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};

/// `logic("review").input("Article").goto("exit", &[])…`.
pub(crate) fn constructor(row: &NodeRow, span: Span) -> TokenStream {
    let name = &row.name;
    let start = match row.kind {
        NodeKind::Logic => quote_spanned!(span=> __log),
        NodeKind::Llm => quote_spanned!(span=> __p::llm),
        NodeKind::Fork => quote_spanned!(span=> __p::fork),
        _ => quote_spanned!(span=> __p::join),
    };
    let mut setters = Setters { span, written: quote_spanned!(span=> #start(#name)) };
    if row.entry {
        setters.call("entry", TokenStream::new());
    }
    if let Some(ty) = &row.input {
        setters.call("input", ty);
    }
    for slot in &row.slots {
        let (name, ty, sources, latched) = (&slot.name, &slot.ty, &slot.sources, slot.latched);
        setters.call("slot", quote_spanned!(span=> #name, #ty, &[#(#sources),*], #latched));
    }
    if let (Some(prompt), Some(output)) = (&row.prompt, &row.output) {
        setters.call("llm", quote_spanned!(span=> #prompt, #output));
    }
    for goto in &row.goto {
        setters.goto("goto", goto);
    }
    if let Some(fork) = &row.fork {
        let branches = fork.branches.iter().map(|branch| {
            let targets: Vec<String> = branch.iter().map(ToString::to_string).collect();
            targets.join("|")
        });
        let cancels = &fork.cancels;
        setters.call("fork", quote_spanned!(span=> &[#(#branches),*], &[#(#cancels),*]));
    }
    if let Some(goto) = &row.exhausted {
        setters.goto("exhausted", goto);
    }
    match row.visits {
        Some(Visits::AtMost(limit)) => setters.call("visits", limit),
        Some(Visits::Unbounded) => setters.call("unbounded", TokenStream::new()),
        None => {}
    }
    if let Some(limit) = row.attempts {
        setters.call("attempts", limit);
    }
    if let Some(milliseconds) = row.timeout_ms {
        setters.call("timeout_ms", milliseconds);
    }
    if let Some(role) = &row.agent {
        setters.call("agent", role);
    }
    if let Some(name) = &row.workspace {
        setters.call("workspace", name);
    }
    if row.read_only {
        setters.call("read_only", TokenStream::new());
    }
    if let Some(memory) = &row.memory {
        let (group, ty) = (&memory.group, &memory.ty);
        setters.call("memory", quote_spanned!(span=> #group, #ty));
    }
    setters.written
}

struct Setters {
    span: Span,
    written: TokenStream,
}

impl Setters {
    fn call(&mut self, name: &str, arguments: impl ToTokens) {
        let name = format_ident!("{name}", span = self.span);
        self.written.extend(quote_spanned!(self.span=> .#name(#arguments)));
    }

    fn goto(&mut self, name: &str, goto: &Goto) {
        let (to, cancels) = (goto.to.to_string(), &goto.cancels);
        self.call(name, quote_spanned!(self.span=> #to, &[#(#cancels),*]));
    }
}

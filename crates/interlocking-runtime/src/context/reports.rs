//! The reports of advisory nodes and observers, kept until the graph's exit reads them.

use crate::context::memory_store::MemoryStore;
use crate::erased::read::read;
use crate::journal::Encoded;
use interlocking_core::failure::{Failure, NodeError};
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{ReportSource, Reported, Stored, Value};
use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::table::NodeKind;

/// The reports of a graph's advisory nodes and observers.
#[derive(Debug, Default)]
pub(crate) struct Reports(Vec<(NodeIndex, u32, Result<Encoded, Failure>)>);

impl Reports {
    pub(crate) fn add(&mut self, execution: Execution, report: Result<Encoded, Failure>) {
        self.0.push((execution.node, execution.visit, report));
    }

    /// Adds, for each observer that has no report yet, its memory as its report, with the number of outcomes that it was
    /// `shown`.
    pub(crate) fn add_observers(&mut self, net: &Net, memories: &[Box<dyn MemoryStore>], shown: &[(NodeIndex, u32)]) {
        for (node, row) in net.table().nodes.iter().enumerate() {
            let node = node as NodeIndex;
            let memory = net.node(node).memory.and_then(|group| memories.get(usize::from(group)));
            if row.kind != NodeKind::Observer || self.0.iter().any(|(known, ..)| *known == node) {
                continue;
            }
            if let Some(Ok(report)) = memory.map(|memory| memory.encode()) {
                let shown = shown.iter().find(|(of, _)| *of == node).map_or(0, |(_, shown)| *shown);
                self.0.push((node, shown, Ok(report)));
            }
        }
    }
}

impl ReportSource for Reports {
    fn read<R: Value>(&mut self, node: NodeIndex) -> Result<Vec<Reported<R>>, NodeError> {
        let mut reports = Vec::new();
        for (_, visit, report) in self.0.iter().filter(|(of, ..)| *of == node) {
            let result = match report {
                Ok(json) => {
                    let Stored(report) = read(json).map_err(|reason| format!("a report does not parse: {reason}"))?;
                    Ok(report)
                }
                Err(failure) => Err(Box::new(failure.clone())),
            };
            reports.push(Reported { visit: *visit, result });
        }
        reports.sort_by_key(|report: &Reported<R>| report.visit);
        Ok(reports)
    }
}

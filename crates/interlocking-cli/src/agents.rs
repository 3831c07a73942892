//! The options `--agent` and `--agents`, which select the agents of a run's roles.

use crate::error::CommandError;
use clap::Args;
use interlocking_agents::backends::{Backends, RoleBindings, RoleBindingsError};
use interlocking_core::graph::Graph;
use interlocking_runtime::{Run, StartError};
use std::path::{Path, PathBuf};

/// Options that bind roles to agents: for a program to flatten into its options.
///
/// ```no_run
/// # use interlocking::prelude::*;
/// use interlocking::cli::{Agents, Start, CommandError};
///
/// #[derive(clap::Args)]
/// struct Options {
///     #[command(flatten)]
///     agents: Agents,
/// }
///
/// # async fn set_up<G: interlocking::graph::Graph>(graph: G, options: Options) -> Result<Run<G>, CommandError> {
/// // Options take precedence over bindings made in code.
/// options.agents.bind(Run::new(graph))
/// # }
/// ```
#[derive(Clone, Debug, Default, Args)]
pub struct Agents {
    /// Who plays a role, or all of them: `critic=claude:haiku`, `claude`, `scripted:FILE`; may be repeated
    #[arg(long, help_heading = "Agents", value_name = "[ROLE=]BACKEND[:MODEL]")]
    agent: Vec<String>,

    /// Read from this file who plays which role; --agent goes before it
    #[arg(long, help_heading = "Agents", value_name = "FILE")]
    agents: Option<PathBuf>,

    /// Where relative paths are looked for; by default where the process is.
    #[arg(skip)]
    directory: PathBuf,
}

impl Agents {
    /// The options with values that were given earlier, in `directory`: those of `--agent`
    /// ([`agent_arguments`](Self::agent_arguments)) and of `--agents` ([`file`](Self::file)).
    pub fn new(said: Vec<String>, file: Option<PathBuf>, directory: PathBuf) -> Self {
        Self { agent: said, agents: file, directory }
    }

    /// Whether neither option was given.
    pub fn is_empty(&self) -> bool {
        self.agent.is_empty() && self.agents.is_none()
    }

    /// The values of `--agent`, in the order given.
    pub fn agent_arguments(&self) -> &[String] {
        &self.agent
    }

    /// The value of `--agents`.
    pub fn file(&self) -> Option<&Path> {
        self.agents.as_deref()
    }

    /// Binds the roles of a run that the options name, with the built-in backends. Other roles are left as they are.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the options.
    pub fn bind<G: Graph>(&self, run: Run<G>) -> Result<Run<G>, CommandError> {
        run.with_role_bindings(&self.bindings(Backends::built_in())?).map_err(CommandError::of_role_bindings)
    }

    /// The role bindings that the options ask for, for a program with backends of its own.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or an option names no agent. Whether the roles and backends exist is checked when roles are
    /// bound.
    pub fn bindings(&self, backends: Backends) -> Result<RoleBindings, CommandError> {
        let mut bindings = RoleBindings::new(backends);
        if let Some(path) = &self.agents {
            let path = self.directory.join(path);
            bindings = bindings.read(path).map_err(CommandError::of_role_bindings)?;
        }
        for said in &self.agent {
            let place = format!("--agent {said}");
            bindings = bindings.with_option_in(&self.directory, said, place).map_err(CommandError::of_role_bindings)?;
        }
        Ok(bindings)
    }
}

impl CommandError {
    /// Why a run whose roles are bound by [`Agents`] does not start.
    pub fn of_roles(error: StartError) -> Self {
        match error {
            StartError::UnboundRoles { unbound, bound } => {
                let lines = |items: Vec<String>| items.iter().map(|item| format!("\n  {item}")).collect::<String>();
                let role = unbound.first().map_or("ROLE", |first| &first.role);
                let remedy = format!(
                    "say who plays: --agent {role}=BACKEND:MODEL, --agent BACKEND for all roles, or a file with --agents"
                );
                let mut what = format!("no agent plays:{}", lines(unbound.iter().map(ToString::to_string).collect()));
                if !bound.is_empty() {
                    what += &format!("\nplayed are:{}", lines(bound));
                }
                Self::new(what).remedy(remedy)
            }
            error @ (StartError::IncapableAgents { .. } | StartError::AgentsNotReady { .. }) => {
                Self::of_start(error).remedy("let others play: --agent ROLE=BACKEND:MODEL, or in the file of --agents")
            }
            error => Self::of_start(error),
        }
    }

    /// What is wrong with the role bindings: a single problem by itself, several as a list of lines.
    pub fn of_role_bindings(error: RoleBindingsError) -> Self {
        match error {
            RoleBindingsError::Unreadable { file, reason } => Self::new(reason).at(file),
            RoleBindingsError::Bad { problems } => match &problems[..] {
                [only] => Self::new(only.message.clone()).at(only.place.clone()),
                several => {
                    let lines: String = several.iter().map(|problem| format!("\n  {problem}")).collect();
                    Self::new(format!("the roles cannot be bound as the options say:{lines}"))
                }
            },
        }
    }
}

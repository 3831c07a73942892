//! The agents of a run over a repository.

use super::run::{Remembered, RepositoryRun};
use crate::error::CommandError;
use interlocking_agents::backends::{Backends, BuildAccess, RoleBindings};
use interlocking_agents::{Script, ScriptedAgent};
use interlocking_core::graph::Graph;
use interlocking_runtime::roles::Roles;
use std::sync::Arc;

impl<M: Remembered> RepositoryRun<M> {
    /// Whether the options name an agent of a backend (`--agent` or `--agents`).
    pub fn has_agents(&self) -> bool {
        let agents = &self.facts.agents;
        !agents.said.is_empty() || agents.file.is_some()
    }

    /// Whether the options name a script (`--script`).
    pub fn has_script(&self) -> bool {
        self.facts.agents.script.is_some()
    }

    /// Forgets the agents that the options named when the run began: the program's default agents play instead.
    pub fn clear_agents(&mut self) {
        self.facts.agents = super::options::AgentOptions::default();
    }

    /// Binds every role to an agent that is ready to work: to the agents that the options name, and all other roles to a script:
    /// the options' script, or else `usual`. `access` says how agents may build. Agents keep their sessions in the
    /// [agents' directory](Self::agents_directory).
    ///
    /// # Errors
    ///
    /// [`CommandError`] if a role has no agent, or an agent cannot work.
    pub async fn bind_roles<G: Graph>(
        &self,
        access: &BuildAccess,
        usual: Option<Script>,
    ) -> Result<Roles, CommandError> {
        let agents = &self.facts.agents;
        let script = match &agents.script {
            Some(path) => Some(Script::read(self.named_script.as_deref().unwrap_or(path))?),
            None => usual,
        };
        let mut roles = match script {
            Some(script) => {
                // Scripted agents remember their sessions across processes, as real agents do.
                let mut agent = ScriptedAgent::new(script).with_memory(self.agents_directory().join("agents.json"))?;
                for (name, value) in &access.environment {
                    agent = agent.with_env(name, value);
                }
                Roles::all(Arc::new(agent))
            }
            None => Roles::new(),
        };
        let access = BuildAccess { homes: Some(self.agents_directory()), ..access.clone() };
        let said = crate::Agents::new(agents.said.clone(), agents.file.clone(), agents.directory.clone());
        let bindings: RoleBindings = said.bindings(Backends::with_build_access(&access))?;
        roles.bind_all::<G>(&bindings).map_err(CommandError::of_role_bindings)?;
        roles.check::<G>().await.map_err(CommandError::of_roles)?;
        Ok(roles)
    }
}

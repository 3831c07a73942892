//! Who plays the agents of a run over a repository.

use super::run::{Remembered, RepositoryRun};
use crate::error::CommandError;
use interlocking_agents::backends::{Backends, BuildAccess, RoleBindings};
use interlocking_agents::{Script, ScriptedAgent};
use interlocking_core::graph::Graph;
use interlocking_runtime::roles::Roles;
use std::sync::Arc;

impl<M: Remembered> RepositoryRun<M> {
    /// Whether an agent of a backend plays.
    pub fn has_agents(&self) -> bool {
        let agents = &self.facts.agents;
        !agents.said.is_empty() || agents.file.is_some()
    }

    /// Whether a script of the user's plays.
    pub fn has_script(&self) -> bool {
        self.facts.agents.script.is_some()
    }

    /// Forgets who was said to play when the run began: the program's own default does.
    pub fn forget_agents(&mut self) {
        self.facts.agents = super::options::AgentOptions::default();
    }

    /// Who plays which role, each of them ready to work: the agents that the options name, and the script, theirs or else `usual`, for all
    /// other roles. Agents may build as `access` says; their sessions are kept in the [agents' directory](Self::agents_directory).
    ///
    /// # Errors
    ///
    /// [`CommandError`] where a role is not played, or an agent cannot work.
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
                // Real agents know their sessions in another process, too.
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

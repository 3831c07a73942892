//! Workspaces for the runs of any graph.

use interlocking::workspaces::{Base, GitWorkspaces};
use interlocking::worktree::{Keep, Repository};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let workspaces = GitWorkspaces::new(Repository::discover(".")?, "../runs").with_keep(Keep::OnFailure);
    println!("{:?}", workspaces.with_base("review", Base::Workspace("program".to_owned())));
    Ok(())
}

//! Looks, shared between those who want one at the same time.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Mutex;

use super::look::Look;
use super::orphans::reap;

/// The last one, and when it began.
static LAST: Mutex<Option<(Instant, Arc<Look>)>> = Mutex::const_new(None);

/// A look that began after this was called.
///
/// All who ask while one is going on share the next one, so that many calls that end together cost two.
pub(super) async fn share() -> io::Result<Arc<Look>> {
    let asked = Instant::now();
    let mut last = LAST.lock().await;
    if let Some((begun, look)) = &*last
        && *begun > asked
    {
        return Ok(Arc::clone(look));
    }
    let begun = Instant::now();
    let looking = tokio::task::spawn_blocking(|| {
        let look = Look::new()?;
        if look.ended().is_empty() {
            return Ok(look);
        }
        reap();
        Look::new()
    });
    let look = Arc::new(looking.await.map_err(io::Error::other)??);
    *last = Some((begun, Arc::clone(&look)));
    Ok(look)
}

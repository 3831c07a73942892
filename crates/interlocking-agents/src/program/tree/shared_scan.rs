//! Shares scans between callers that need one at the same time.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Mutex;

use super::orphans::reap;
use super::scan::Scan;

/// The last scan, and when it began.
static LAST: Mutex<Option<(Instant, Arc<Scan>)>> = Mutex::const_new(None);

/// Returns a scan that began after this call.
///
/// Callers that arrive during a scan share the next one, so that many programs that end together cost two scans.
pub(super) async fn share() -> io::Result<Arc<Scan>> {
    let asked = Instant::now();
    let mut last = LAST.lock().await;
    if let Some((begun, scan)) = &*last
        && *begun > asked
    {
        return Ok(Arc::clone(scan));
    }
    let begun = Instant::now();
    let scanning = tokio::task::spawn_blocking(|| {
        let scan = Scan::new()?;
        if scan.ended().is_empty() {
            return Ok(scan);
        }
        reap();
        Scan::new()
    });
    let scan = Arc::new(scanning.await.map_err(io::Error::other)??);
    *last = Some((begun, Arc::clone(&scan)));
    Ok(scan)
}
